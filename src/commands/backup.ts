import { resolve } from 'node:path'
import {
  backUp,
  backupFolder,
  backupsIn,
  drill,
  lookAtRestore,
  restore as restoreBackup,
} from '../operator/backups.ts'
import { Refused } from '../operator/operator.ts'
import { type Act, type Context, parseArguments, type Result, UsageError } from './act.ts'

const backupUsage = `Usage: kiosk402 backup [--to FOLDER] [--keep N]

Writes the whole database, as it is at one moment, into a file that pg_restore reads, and checks that the
file has every table. The keys of the store are not in it: keep /etc/kiosk402 apart from it.

  --to FOLDER  otherwise /var/backups/kiosk402, or the folder backups of the sandbox
  --keep N     how many of the newest backups stay in the folder; 14 otherwise

Examples:
  kiosk402 backup
  kiosk402 backup --to /mnt/elsewhere --keep 60`

export const backup: Act = {
  summary: 'backs up the database',
  usage: backupUsage,
  run(args, { isDryRun, withOperator }) {
    const { to, keep } = backupOptions(args)
    return withOperator(async (operator) => {
      const folder = resolve(to ?? backupFolder(operator))
      if (isDryRun) {
        return { exit: 0, data: { folder, keep }, lines: [`Would write into ${folder}`] }
      }
      const data = await backUp(operator, { folder, keep })
      const lines = [
        `${data.file}: ${data.rows} rows, ${data.bytes} bytes`,
        ...data.removed.map((file) => `Removed ${file}`),
      ]
      return { exit: 0, data, lines }
    })
  },
}

function backupOptions(args: readonly string[]) {
  const { values } = parseArguments({
    args: [...args],
    options: { to: { type: 'string' }, keep: { type: 'string', default: '14' } },
  })
  if (!/^[1-9]\d{0,3}$/.test(values.keep)) throw new UsageError('--keep is a number from 1 on')
  return { to: values.to, keep: Number(values.keep) }
}

const restoreUsage = `Usage: kiosk402 restore FILE
       kiosk402 restore --check [FILE | --from FOLDER]

Restores a backup into the empty database of DATABASE_URL, whole or not at all. Stop every node before, and
reconcile before you start one: docs/operators/backups.md has the steps.

  --check        restores the newest backup into a database of its own, compares every table with what was
                 backed up, and drops that database: nothing of the store is changed. Exit code 1 if something
                 differs.
  --from FOLDER  where the backups are; otherwise /var/backups/kiosk402, or the folder backups of the sandbox

Examples:
  kiosk402 restore --check
  kiosk402 restore /var/backups/kiosk402/kiosk402-20261129T031500Z.dump --dry-run`

export const restore: Act = {
  summary: 'restores a backup, or checks that the newest one can be restored',
  usage: restoreUsage,
  run(args, context) {
    const { check, from, file } = restoreOptions(args)
    if (check) return runDrill(context, { from, file })
    if (file === undefined) throw new UsageError('Name the backup, or say --check')
    return runRestore(context, resolve(file))
  },
}

function restoreOptions(args: readonly string[]) {
  const { values, positionals } = parseArguments({
    args: [...args],
    options: { check: { type: 'boolean', default: false }, from: { type: 'string' } },
    allowPositionals: true,
  })
  const [file, ...more] = positionals
  if (more.length > 0) throw new UsageError(`One backup at a time; ${more[0]} is one too many`)
  if (values.from !== undefined && (!values.check || file)) {
    throw new UsageError('--from goes with --check, without a FILE')
  }
  return { ...values, file }
}

function runDrill(
  { isDryRun, withOperator }: Context,
  { from, file }: { readonly from?: string | undefined; readonly file: string | undefined },
): Promise<Result> {
  return withOperator(async (operator) => {
    const folder = resolve(from ?? backupFolder(operator))
    const newest = file === undefined ? (await backupsIn(folder)).at(-1) : resolve(file)
    if (newest === undefined) throw new Refused(`there is no backup in ${folder}`)
    if (isDryRun) return { exit: 0, data: { file: newest }, lines: [`Would check ${newest}`] }
    const data = await drill(operator, newest)
    const { version, rows, differences } = data
    if (differences.length === 0)
      return { exit: 0, data, lines: [`${newest}, of version ${version}, restores: ${rows} rows`] }
    const each = differences.map(
      ({ table, backedUp, restored }) =>
        `  ${table}: ${backedUp} rows backed up, ${restored} restored`,
    )
    return { exit: 1, data, lines: [`${newest} does not restore as it was backed up:`, ...each] }
  })
}

async function runRestore(
  { config: settings, isDryRun, by, tellStore }: Context,
  file: string,
): Promise<Result> {
  const config = settings()
  if (config.mode === 'sandbox') {
    throw new Refused('the sandbox keeps a database of its own: copy its folder, DATA_DIR')
  }
  tellStore(config)
  const { databaseUrl } = config
  if (isDryRun) {
    const data = await lookAtRestore(databaseUrl, file)
    return { exit: 0, data, lines: [`Would restore ${data.tables} tables`] }
  }
  const data = await restoreBackup(databaseUrl, file, by)
  const next = [
    'Before a node starts: kiosk402 reconcile, then kiosk402 reconcile --rebuild (docs/operators/backups.md)',
    'and, as an administrator of the database, deploy/audit.sql',
  ]
  return { exit: 0, data, lines: [`Restored ${data.rows} rows of ${data.tables} tables.`, ...next] }
}

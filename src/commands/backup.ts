import { resolve } from 'node:path'
import { backUp, backupFolder } from '../operator/backups.ts'
import { type Act, parseArguments, UsageError } from './act.ts'

const usage = `Usage: kiosk402 backup [--to FOLDER] [--keep N]

Writes the whole database, as it is at one moment, into a file that pg_restore reads, and checks that the
file has every table. The keys of the store are not in it: keep /etc/kiosk402 apart from it.

  --to FOLDER  otherwise /var/backups/kiosk402, or the folder backups of the sandbox
  --keep N     how many of the newest backups stay in the folder; 14 otherwise

Examples:
  kiosk402 backup
  kiosk402 backup --to /mnt/elsewhere --keep 60`

export const backup: Act = {
  summary: 'backs up the database',
  usage,
  run(args, { isDryRun, withOperator }) {
    const { to, keep } = optionsOf(args)
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

function optionsOf(args: readonly string[]) {
  const { values } = parseArguments({
    args: [...args],
    options: { to: { type: 'string' }, keep: { type: 'string', default: '14' } },
  })
  if (!/^[1-9]\d{0,3}$/.test(values.keep)) throw new UsageError('--keep is a number from 1 on')
  return { to: values.to, keep: Number(values.keep) }
}

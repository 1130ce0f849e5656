import { parseArgs } from 'node:util'
import { createArchive } from '../adapters/storage/archive.ts'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { ownEnvironment } from '../secret-files.ts'
import { archiveOrders } from './archive-work.ts'
import { openDatabaseFor } from './store-database.ts'

const usage = `Moves orders that ended long ago out of the database, into one file a month.

  npm run archive -- --to FOLDER [--before YYYY-MM]

  --to      where the files are, of this run and of all before
  --before  moves what ended before that month; otherwise what ended ARCHIVE_AFTER_MONTHS ago

Safe beside a running store, and to be run again after it was broken off. Ends with 0 when all is
moved, 1 when it could not be done, 2 when the command line says nothing that can be done.`

class UsageError extends Error {}

interface Wanted {
  readonly to: string
  readonly before: string | undefined
}

async function main(args: string[]): Promise<0 | 1 | 2> {
  const wanted = wantedIn(args)
  if (wanted === undefined) {
    console.log(usage)
    return 0
  }
  const config = readConfig(ownEnvironment(console.warn))
  const database = await openDatabaseFor(config, 'archive')
  try {
    const archive = createArchive(database)
    const endedBefore = monthOf(wanted, config)
    const moved = await archiveOrders({ archive, dir: wanted.to, endedBefore, tell: console.log })
    console.log(
      `${moved} orders moved that ended before ${endedBefore.toISOString().slice(0, 10)}.`,
    )
    return 0
  } finally {
    await database.end()
  }
}

/** The first moment that stays, in UTC. */
function monthOf({ before }: Wanted, { archiveAfterMonths }: Config): Date {
  const now = new Date()
  const [year = 0, month = 1] = before?.split('-').map(Number) ?? [
    now.getUTCFullYear(),
    now.getUTCMonth() + 1 - archiveAfterMonths,
  ]
  return new Date(Date.UTC(year, month - 1, 1))
}

/** Undefined for who asks how it is used. */
function wantedIn(args: string[]): Wanted | undefined {
  const { values } = parse(args)
  if (values.help) return undefined
  const { to, before } = values
  if (to === undefined) throw new UsageError('--to is missing')
  if (before !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(before)) {
    throw new UsageError(`--before is "${before}"; it must be a month such as 2026-01`)
  }
  return { to, before }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        help: { type: 'boolean', default: false },
        to: { type: 'string' },
        before: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function failed(error: unknown): 1 | 2 {
  if (error instanceof UsageError) {
    console.error(`${error.message}.\n\n${usage}`)
    return 2
  }
  if (error instanceof ConfigError) console.error(error.message)
  else console.error(`Not all could be archived: ${error instanceof Error ? error.message : error}`)
  return 1
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)

import { fewestArchiveMonths } from '../environment/common.ts'
import { parsed, UsageError } from './command-line.ts'

export const usage = `Moves orders, and checkouts that became none, out of the database when they ended long ago, into files of
one month each, and shows one of them.

  npm run archive -- --to FOLDER [--before YYYY-MM]
  npm run archive -- --from FOLDER --show ORDER [--goods]

  --to      where the files are, of this run and of all before
  --before  moves what ended before that month; otherwise what ended ARCHIVE_AFTER_MONTHS ago
  --show    prints an archived order or checkout, with all that belongs to it, from its file; named by
            its id, its payment id or its transaction
  --goods   opens what was delivered, with SECRETS_KEY, and prints that too

Moving is safe beside a running store, and to be run again after it was broken off. Ends with 0 when
it is done, 1 when it failed, 2 when the command line is wrong.`

export type ArchiveCommand =
  /** `before`: what ended earlier is moved; as configured when undefined. */
  | { readonly type: 'move'; readonly dir: string; readonly before: Date | undefined }
  | {
      readonly type: 'show'
      readonly dir: string
      readonly order: string
      readonly withGoods: boolean
    }

/** @throws UsageError */
export function commandOf(args: readonly string[], now: Date): ArchiveCommand {
  const options = parse(args)
  return options.show === undefined ? toMove(options, now) : toShow(options, options.show)
}

type Options = ReturnType<typeof parse>

function toShow({ to, before, from, goods }: Options, order: string): ArchiveCommand {
  if (to !== undefined || before !== undefined) throw new UsageError('--show moves nothing')
  if (from === undefined) throw new UsageError('--from is missing')
  return { type: 'show', dir: from, order, withGoods: goods }
}

function toMove({ to, before, from, goods }: Options, now: Date): ArchiveCommand {
  if (from !== undefined || goods) throw new UsageError('--show is missing')
  if (to === undefined) throw new UsageError('--to is missing')
  return { type: 'move', dir: to, before: before === undefined ? undefined : monthIn(before, now) }
}

/** The start of the month that is this many months before the current one, in UTC. */
export function monthsAgo(months: number, now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1))
}

function monthIn(text: string, now: Date): Date {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) {
    throw new UsageError(`--before is "${text}"; it must be a month such as 2026-01`)
  }
  const month = new Date(`${text}-01T00:00:00Z`)
  const newest = monthsAgo(fewestArchiveMonths, now)
  if (month <= newest) return month
  throw new UsageError(
    `--before is "${text}"; orders stay for three months after their end, so it must be ` +
      `${newest.toISOString().slice(0, 7)} or earlier`,
  )
}

function parse(args: readonly string[]) {
  const options = {
    to: { type: 'string' },
    before: { type: 'string' },
    from: { type: 'string' },
    show: { type: 'string' },
    goods: { type: 'boolean', default: false },
  } as const
  return parsed({ args: [...args], options }).values
}

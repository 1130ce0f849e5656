import { type AuditedAct, readActs } from '../adapters/storage/audit.ts'
import { type Act, parseArguments, UsageError } from './act.ts'

const usage = `Usage: kiosk402 audit [--by NAME] [--subject SUBJECT] [--limit N]

Lists who did what to the store, when and why: every act of this command, and every change of a setting. The
newest comes first. The store's own role in the database can add to this list, and change nothing in it.

  --by NAME         only what this person did
  --subject SUBJECT only what was done to this: an order (order:ord_…), a brand (brand:APPLE), refunds, a node
  --limit N         at most so many, 100 otherwise

Examples:
  kiosk402 audit --by anna
  kiosk402 audit --subject refunds --json`

export const audit: Act = {
  summary: 'who did what to the store, when and why',
  usage,
  async run(args, { withOperator }) {
    const filter = filterIn(args)
    const acts = await withOperator(({ database }) => readActs(database, filter))
    return {
      exit: 0,
      data: acts,
      lines: acts.length > 0 ? acts.map(lineOf) : ['Nothing was done.'],
    }
  },
}

function filterIn(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = { by: text, subject: text, limit: text }
  const { values } = parseArguments({ args: [...args], options })
  const { by = null, subject = null, limit = '100' } = values
  if (!/^[1-9]\d{0,5}$/.test(limit))
    throw new UsageError(`--limit is "${limit}"; it must be 1 or more`)
  return { by, subject, limit: Number(limit) }
}

function lineOf({ at, by, act, subject, before, after, reason }: AuditedAct): string {
  const was = before === null ? '' : ` from ${JSON.stringify(before)}`
  const is = after === null ? '' : ` ${was ? 'to ' : ''}${JSON.stringify(after)}`
  return `${at.toISOString()}  ${by}  ${act}  ${subject}${was}${is}${reason ? `  (${reason})` : ''}`
}

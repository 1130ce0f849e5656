import type { Operator } from '../operator/operator.ts'
import { changeDenied, denied } from '../operator/screening.ts'
import { identityOf } from '../orders/denylist.ts'
import { readReceiver } from '../orders/spending-limits/rules.ts'
import { ownerOf } from '../payments/coins.ts'
import { type Act, parseCommand, type Result, UsageError } from './act.ts'

const usage = `Usage: kiosk402 denylist WHAT

  list                                    who is on the list, since when and why
  add PARTY... --reason "..."             sells nothing to them, and holds refunds to them
  remove PARTY... --reason "..."          sells to them again

A party is a wallet, an address of a coin, a phone number, an e-mail address or an ICCID. One spelling
stands for all: every address of the same key, every form of the same mailbox.

Examples:
  kiosk402 denylist add +12025550123 --reason "Stolen cards, case 17"
  xargs kiosk402 denylist add --reason "Sanctions of March" <addresses.txt`

export type DenylistCommand =
  | { readonly does: 'list' }
  | {
      readonly does: 'add' | 'remove'
      readonly parties: readonly string[]
      readonly reason: string
    }

const takes = { list: [], add: ['names', 'reason'], remove: ['names', 'reason'] } as const

export function commandOf(args: readonly string[]): DenylistCommand {
  const { what, names, reason } = parseCommand(args, takes)
  if (what === 'list') return { does: 'list' }
  if (names.length === 0) throw new UsageError(`${what} needs a wallet, address or receiver`)
  if (!reason) throw new UsageError(`${what} needs a reason: --reason "sanctioned since March"`)
  const spellings = names.map(partyIn).map((party) => [identityOf(party), party] as const)
  return { does: what, parties: [...new Map(spellings).values()], reason }
}

/** Addresses of all coins are of these characters; the shortest has 26, the longest 106. */
const addressPattern = /^[a-z0-9]{26,110}$/i

function partyIn(text: string): string {
  const receiver = readReceiver(text)
  if (receiver !== undefined) return receiver
  if (ownerOf(text) === 'mistyped')
    throw new UsageError(`"${text}" is mistyped: no such address exists`)
  if (addressPattern.test(text)) return text
  throw new UsageError(
    `"${text}" is no wallet, address, phone number with its +, e-mail address or ICCID`,
  )
}

type As = Pick<Operator, 'database' | 'by'>

export function carryOut(operator: As, command: DenylistCommand): Promise<Result> {
  return command.does === 'list' ? list(operator) : change(operator, command)
}

async function change(
  operator: As,
  { does, parties, reason }: Exclude<DenylistCommand, { does: 'list' }>,
): Promise<Result> {
  const isDenied = does === 'add'
  const data = await changeDenied(operator, { parties, isDenied, reason })
  const [now, already] = isDenied
    ? ['is on the list now', 'was on it already']
    : ['is off the list now', 'was not on it']
  const lines = data.map(({ party, isChanged }) => `${party} ${isChanged ? now : already}`)
  return { exit: 0, data, lines }
}

async function list(operator: As): Promise<Result> {
  const data = await denied(operator)
  const lines = data.map(
    ({ party, reason, by, since }) => `${party}  since ${since.toISOString()}  by ${by}  ${reason}`,
  )
  return { exit: 0, data, lines: lines.length > 0 ? lines : ['Nobody is on the denylist.'] }
}

export const denylist: Act = {
  summary: 'whom the store sells nothing to, and pays nothing back',
  usage,
  async run(args, { withOperator }) {
    const command = commandOf(args)
    return withOperator((operator) => carryOut(operator, command))
  },
}

import type { Pool } from 'pg'
import { changeDenylist, listDenied } from '../adapters/storage/store.ts'
import { identityOf } from '../orders/denylist.ts'
import { readReceiver } from '../orders/spending-limits/rules.ts'
import { ownerOf } from '../payments/coins.ts'
import {
  onDatabase,
  operatorName,
  parseCommand,
  printLines,
  runCommand,
  UsageError,
} from './command-line.ts'

const usage = `Usage: npm run denylist -- <what>

  list                                    who is on the list, since when and why
  add <party>... --reason "..."           sells nothing to them, and holds refunds to them
  remove <party>... --reason "..."        sells to them again

A party is a wallet, an address of a coin, a phone number, an e-mail address or an ICCID. One spelling
stands for all: every address of the same key, every form of the same mailbox.

It works on the database of the store that the same environment starts.`

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

export async function carryOut(
  { database, by }: { readonly database: Pool; readonly by: string },
  command: DenylistCommand,
): Promise<readonly string[]> {
  if (command.does === 'list') return listLines(database)
  const { does, parties, reason } = command
  const isDenied = does === 'add'
  const named = parties.map((party) => ({ party, identity: identityOf(party) }))
  const changed = await changeDenylist(database, { parties: named, isDenied, reason, by })
  const [now, already] = isDenied
    ? ['is on the list now', 'was on it already']
    : ['is off the list now', 'was not on it']
  return parties.map((party) => `${party} ${changed.includes(party) ? now : already}`)
}

async function listLines(database: Pool): Promise<readonly string[]> {
  const entries = await listDenied(database)
  if (entries.length === 0) return ['Nobody is on the denylist.']
  return entries.map(
    ({ party, reason, changed_by, changed_at }) =>
      `${party}  since ${changed_at.toISOString()}  by ${changed_by}  ${reason}`,
  )
}

async function main(args: readonly string[]): Promise<0> {
  const command = commandOf(args)
  const by = operatorName()
  const lines = await onDatabase('denylist', (database) => carryOut({ database, by }, command))
  printLines(lines)
  return 0
}

if (import.meta.main) await runCommand({ name: 'denylist', usage, main })

import { byHand, readDenied } from '../adapters/storage/denylist.ts'
import type { Operator } from '../operator/operator.ts'
import {
  changeDenied,
  importDenied,
  type ListedParties,
  type ListImport,
  partyIn,
} from '../operator/screening.ts'
import { identityOf } from '../orders/denylist.ts'
import { type Act, parseCommand, type Result, UsageError } from './act.ts'

const usage = `Usage: kiosk402 denylist WHAT

  list                                    who is denied, by which list, since when and why
  add PARTY... --reason "..."             sells nothing to them, and holds refunds to them
  remove PARTY... --reason "..."          takes them off the list of what was denied by hand
  import FILE...                          makes a list what the files name now: who is new is
                                          denied, and who is gone leaves this list alone

A party is a wallet, an address of a coin, a phone number, an e-mail address or an ICCID. One spelling
stands for all: every address of the same key, every form of the same mailbox.

FILE is OFAC's sdn.xml; or its sdn.csv and sdn_comments.csv, both named; or text with one party a line,
and comments behind a #. --dry-run shows the differences first.

  --list NAME  the list; otherwise "hand", and for import "sdn" or the name of the file
  --shrinks    more than half of a list may go

Examples:
  kiosk402 denylist add +12025550123 --reason "Stolen cards, case 17"
  kiosk402 denylist import sdn.xml --dry-run
  kiosk402 denylist import addresses.txt --list partners`

const takes = {
  list: [],
  add: ['names', 'reason', 'list'],
  remove: ['names', 'reason', 'list'],
  import: ['names', 'list', 'shrinks'],
} as const

export const denylist: Act = {
  summary: 'whom the store sells nothing to, and pays nothing back: lists, OFAC imports',
  usage,
  async run(args, { withOperator }) {
    const asked = parseCommand(args, takes)
    const { what, names, reason, list, shrinks: mayShrink = false } = asked
    if (what === 'list') return withOperator(listed)
    if (list !== undefined && !/^[\w.-]{1,60}$/.test(list)) {
      throw new UsageError(`"${list}" is no name of a list: letters, digits, ".", "_" and "-"`)
    }
    if (what === 'import') {
      if (names.length === 0) throw new UsageError('import needs a file')
      if (list === byHand) throw new UsageError(`--list ${byHand} is what no file denies`)
      return withOperator((operator) => bringIn(operator, { files: names, list, mayShrink }))
    }
    if (names.length === 0) throw new UsageError(`${what} needs a wallet, address or receiver`)
    if (!reason) throw new UsageError(`${what} needs a reason: --reason "sanctioned since March"`)
    const spellings = names.map(requireParty).map((party) => [identityOf(party), party] as const)
    const parties = [...new Map(spellings).values()]
    const change = { parties, reason, list, isDenied: what === 'add' }
    return withOperator((operator) => changed(operator, change))
  },
}

function requireParty(text: string): string {
  const read = partyIn(text)
  if ('why' in read) throw new UsageError(`"${text}" ${read.why}`)
  return read.party
}

async function changed(operator: Operator, change: ListedParties): Promise<Result> {
  const { isDenied } = change
  const data = await changeDenied(operator, change)
  const [now, already] = isDenied
    ? ['is on the list now', 'was on it already']
    : ['is off the list now', 'was not on it']
  const lines = data.map(({ party, isChanged, lists }) => {
    const done = `${party} ${isChanged ? now : already}`
    return isDenied || lists.length === 0
      ? done
      : `${done}, and stays denied by ${lists.join(', ')}`
  })
  return { exit: 0, data, lines }
}

async function bringIn(operator: Operator, files: ListImport): Promise<Result> {
  const data = await importDenied(operator, files)
  const { list, parties, listed, delisted, unread } = data
  const lines = [
    ...listed.map(({ party, reason }) => `+ ${party}  ${reason}`),
    ...delisted.map(({ party, reason }) => `- ${party}  ${reason}`),
    ...unread.map(({ text, entry, why }) => `? "${text}" (${entry}) ${why}`),
    `List ${list}: ${parties} parties, ${listed.length} of them new; ${delisted.length} are gone; ${unread.length} could not be read.`,
  ]
  return { exit: unread.length > 0 ? 1 : 0, data, lines }
}

async function listed({ database }: Operator): Promise<Result> {
  const data = await readDenied(database)
  const lines = data.map(
    ({ party, list, since, by, reason }) =>
      `${party}  by ${list} since ${since.toISOString()}  ${by}: ${reason}`,
  )
  return { exit: 0, data, lines: lines.length > 0 ? lines : ['Nobody is on the denylist.'] }
}

import type { Database } from '../adapters/storage/database.ts'
import { byHand, changeDenylist, type Listing, readDenied } from '../adapters/storage/denylist.ts'
import { identityOf } from '../orders/denylist.ts'
import { readReceiver } from '../orders/spending-limits/rules.ts'
import { ownerOf } from '../payments/coins.ts'
import { audited } from './audit.ts'
import { type Operator, Refused } from './operator.ts'
import { type NamedParty, readPartyList } from './party-lists.ts'

type ScreeningOperator = Pick<Operator, 'database' | 'by'>

/** Addresses of all coins are of these characters; the shortest has 26, the longest 106. */
const addressPattern = /^[a-z0-9]{26,110}$/i

/** A receiver as purchases spell it, an address as it is written, or why the text is neither: "is ...". */
export function partyIn(text: string): { readonly party: string } | { readonly why: string } {
  const receiver = readReceiver(text)
  if (receiver !== undefined) return { party: receiver }
  if (ownerOf(text) === 'mistyped') return { why: 'is mistyped: no such address exists' }
  if (addressPattern.test(text)) return { party: text }
  return { why: 'is no wallet, address, phone number with its +, e-mail address or ICCID' }
}

export interface ListedParties {
  readonly isDenied: boolean
  /** In any spelling of the same party. */
  readonly parties: readonly string[]
  readonly reason: string
  readonly list?: string | undefined
}

/** In force on all nodes within five seconds. Tells of each party the lists that it is on now. */
export async function changeDenied(
  operator: ScreeningOperator,
  { isDenied, parties, reason, list = byHand }: ListedParties,
) {
  const act = isDenied ? 'denylist add' : 'denylist remove'
  const named = parties.map((party) => ({ party, identity: identityOf(party), reason }))
  const change = { parties: named, isDenied, list, by: operator.by }
  // Whom it was about stands in the denylist: a party may be a person.
  const entry = ({ length }: readonly string[]) =>
    length > 0
      ? { act, subject: `denylist:${list}`, after: { parties: length }, reason }
      : undefined
  const changed = await audited(operator, entry, (client) => changeDenylist(client, change))
  const now = await readDenied(operator.database)
  return named.map(({ party, identity }) => {
    const lists = now.filter((one) => one.identity === identity).map((one) => one.list)
    return { party, isDenied, isChanged: changed.includes(party), lists }
  })
}

export interface ListImport {
  /** The parts of one list (party-lists.ts). */
  readonly files: readonly string[]
  /** `sdn` for OFAC's list, and the name of the file for others. */
  readonly list?: string | undefined
  /** More than half of the parties of the list may go. */
  readonly mayShrink: boolean
}

/**
 * Makes a list what the files name now. Who is not named any more leaves this list alone: whoever is denied by hand, or
 * by another list, stays denied.
 *
 * @throws Refused for files that are cut off or no list, and for a list that shrinks by more than a half
 */
export async function importDenied(
  operator: ScreeningOperator,
  { files, mayShrink, ...named }: ListImport,
) {
  const found = await readPartyList(files)
  const list = named.list ?? found.name
  const { parties, unread } = readParties(list, found.parties)
  const change = async (client: Database) => {
    const before = (await readDenied(client)).filter((one) => one.list === list)
    const known = new Set(before.map(({ identity }) => identity))
    const listed = [...parties.values()].filter(({ identity }) => !known.has(identity))
    const gone = before.filter(({ identity }) => !parties.has(identity))
    if (gone.length * 2 > before.length && !mayShrink) {
      throw new Refused(
        `The list ${list} would lose ${gone.length} of its ${before.length} parties. If the file is whole, say so with --shrinks`,
      )
    }
    const reason = `Is not on the list ${list} any more`
    const delisted = gone.map(({ party, identity }) => ({ party, identity, reason }))
    const to = { list, by: operator.by }
    await changeDenylist(client, { ...to, parties: listed, isDenied: true })
    await changeDenylist(client, { ...to, parties: delisted, isDenied: false })
    return { list, parties: parties.size, listed, delisted, unread }
  }
  return audited(
    operator,
    ({ listed, delisted, ...done }) =>
      listed.length + delisted.length === 0
        ? undefined
        : {
            ...{ act: 'denylist import', subject: `denylist:${list}` },
            after: { parties: done.parties, listed: listed.length, delisted: delisted.length },
          },
    change,
  )
}

function readParties(list: string, named: readonly NamedParty[]) {
  const parties = new Map<string, Listing>()
  const unread: (NamedParty & { readonly why: string })[] = []
  for (const one of named) {
    const read = partyIn(one.text)
    if ('why' in read) unread.push({ ...one, ...read })
    else {
      const identity = identityOf(read.party)
      parties.set(identity, { ...read, identity, reason: `On the list ${list}, ${one.entry}` })
    }
  }
  return { parties, unread }
}

import * as z from 'zod'
import { goods, kinds, type Recipient } from '../../catalog/good.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Usdc } from '../../lib/money.ts'
import type { Digest } from '../../secrets/tokens.ts'

/** An absent rule limits nothing. An empty list allows nothing; it results from two lists without a common value. */
export interface Rules {
  readonly perOrder?: Usdc
  /** Over the last 24 hours, sliding. */
  readonly perDay?: Usdc
  readonly kinds?: readonly Kind[]
  /** ISO 3166-1 alpha-2. */
  readonly countries?: readonly string[]
  /** Keyed digests, because a recipient is personal data and must not be stored here. */
  readonly recipients?: readonly string[]
  /** A person must first approve what costs more (docs/contributors/decisions/020). */
  readonly approveAbove?: Usdc
}

export interface WalletLimits {
  readonly inForce: Rules
  readonly coming?: { readonly rules: Rules; readonly from: Date }
}

/** The published names of the rules, in the order in which they are checked. */
const limitNames = [
  'kinds',
  'countries',
  'recipients',
  'per_order',
  'per_day',
  'approve_above',
] as const
export type LimitName = (typeof limitNames)[number]

export interface SpendingQuery {
  readonly amount: Usdc
  readonly kind: Kind
  /** Absent on plans for many countries. */
  readonly country: string | undefined
  readonly recipient: string | undefined
  readonly isApproved: boolean
}

export interface Spend {
  readonly amount: Usdc
  readonly placedAt: Date
}

/** For how long an order counts against the limit of a day; milliseconds. */
export const dayMs = 86_400_000

export const noRules: Rules = {}

export function rulesAt({ inForce, coming }: WalletLimits, at: Date): Rules {
  return coming && coming.from <= at ? coming.rules : inForce
}

/**
 * The limits of a wallet after it asks for these rules. Whatever is stricter takes effect at once, whatever is looser
 * after a delay, so that somebody who talks an agent into it has to wait. A change that replaces a pending, looser one
 * keeps its time, because it asks for no more than what would have been in force then.
 *
 * @param coolingMs how long looser rules wait; 0: not at all
 */
export function changed(
  limits: WalletLimits,
  wanted: Rules,
  { now, coolingMs }: { readonly now: Date; readonly coolingMs: number },
): WalletLimits {
  const held = rulesAt(limits, now)
  if (coolingMs === 0 || isAsStrict(wanted, held)) return { inForce: wanted }
  const cooled = new Date(now.getTime() + coolingMs)
  const { coming } = limits
  const isWaitedFor = coming && coming.from > now && isAsStrict(wanted, coming.rules)
  const from = isWaitedFor && coming.from < cooled ? coming.from : cooled
  return { inForce: stricter(held, wanted), coming: { rules: wanted, from } }
}

export function isAsStrict(rules: Rules, others: Rules): boolean {
  return (
    isAtMost(rules.perOrder, others.perOrder) &&
    isAtMost(rules.perDay, others.perDay) &&
    isSubset(rules.kinds, others.kinds) &&
    isSubset(rules.countries, others.countries) &&
    isSubset(rules.recipients, others.recipients) &&
    isAtMost(rules.approveAbove, others.approveAbove)
  )
}

function stricter(one: Rules, other: Rules): Rules {
  return present({
    perOrder: lesser(one.perOrder, other.perOrder),
    perDay: lesser(one.perDay, other.perDay),
    kinds: common(one.kinds, other.kinds),
    countries: common(one.countries, other.countries),
    recipients: common(one.recipients, other.recipients),
    approveAbove: lesser(one.approveAbove, other.approveAbove),
  })
}

export function present(
  rules: {
    readonly [Name in keyof Rules]: Rules[Name] | undefined
  },
): Rules {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined))
}

export function hasRules(rules: Rules): boolean {
  return Object.keys(rules).length > 0
}

/** Strict: an offer without a country is on no list of countries, and one without a recipient on no list of those. */
export function limitHit(rules: Rules, asked: SpendingQuery, spent: Usdc): LimitName | undefined {
  return limitNames.find((name) => isBroken[name](rules, asked, spent))
}

const isBroken: Readonly<
  Record<LimitName, (rules: Rules, asked: SpendingQuery, spent: Usdc) => boolean>
> = {
  kinds: ({ kinds }, { kind }) => isOutside(kinds, kind),
  countries: ({ countries }, { country }) => isOutside(countries, country),
  recipients: ({ recipients }, { recipient }) => isOutside(recipients, recipient),
  per_order: ({ perOrder }, { amount }) => perOrder !== undefined && amount > perOrder,
  per_day: ({ perDay }, { amount }, spent) => perDay !== undefined && spent + amount > perDay,
  approve_above: ({ approveAbove }, { amount, isApproved }) =>
    approveAbove !== undefined && amount > approveAbove && !isApproved,
}

export function spentOn(spends: readonly Spend[]): Usdc {
  return spends.reduce((sum, { amount }) => sum + amount, 0n) as Usdc
}

/** When the limit of a day has room for the amount, if nothing else is bought meanwhile. Undefined: never. */
export function roomFrom(perDay: Usdc, amount: Usdc, spends: readonly Spend[]): Date | undefined {
  if (amount > perDay) return undefined
  const oldestFirst = spends.toSorted(
    (one, other) => one.placedAt.getTime() - other.placedAt.getTime(),
  )
  let spent: bigint = spentOn(spends)
  const last = oldestFirst.find((spend) => {
    spent -= spend.amount
    return spent + amount <= perDay
  })
  return last && new Date(last.placedAt.getTime() + dayMs)
}

function isAtMost(limit: bigint | undefined, other: bigint | undefined): boolean {
  return other === undefined || (limit !== undefined && limit <= other)
}

function isSubset(list: readonly string[] | undefined, other: readonly string[] | undefined) {
  return other === undefined || (list?.every((item) => other.includes(item)) ?? false)
}

export function lesser(one: Usdc | undefined, other: Usdc | undefined): Usdc | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}

function common<T>(one: readonly T[] | undefined, other: readonly T[] | undefined) {
  if (one === undefined || other === undefined) return one ?? other
  return one.filter((item) => other.includes(item))
}

function isOutside<T>(list: readonly T[] | undefined, item: T | undefined): boolean {
  return list !== undefined && (item === undefined || !list.includes(item))
}

export function receiverOf(recipient: Recipient): {
  readonly field: string
  readonly text: string | undefined
} {
  const { receiver: field } = goods[recipient.kind]
  const told = new Map<string, unknown>(Object.entries(recipient)).get(field)
  return { field, text: typeof told === 'string' ? told.toLowerCase() : undefined }
}

/** The one spelling of a phone number, an e-mail address or an ICCID; undefined for any other text. */
export function readReceiver(text: string): string | undefined {
  const kind = kinds.find((each) => {
    const { recipient, receiver }: KindDefinition = goods[each]
    return z.safeParse(recipient.shape[receiver] ?? z.never(), text).success
  })
  if (!kind) return undefined
  const { receiverIn }: KindDefinition = goods[kind]
  const receiver = receiverIn ? receiverIn(text) : text
  return receiver?.toLowerCase()
}

/** For one wallet, so that two lists do not show whom they have in common. A known recipient keeps its digest. */
export function digestOf(
  digest: Digest,
  { wallet, text }: { readonly wallet: string; readonly text: string },
  known: readonly string[] = [],
): string {
  const wording = `recipient:${wallet.toLowerCase()}:${text}`
  return known.find((candidate) => digest.matches(wording, candidate)) ?? digest.of(wording)
}

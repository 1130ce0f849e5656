import type { Kind } from '../../catalog/offer.ts'
import type { Usdc } from '../../lib/money.ts'

/**
 * What a wallet lets itself buy. A rule that is absent limits nothing; a list that is empty lets
 * nothing through, which only two lists without a common value can come to.
 */
export interface Rules {
  readonly perOrder?: Usdc
  /** Over the last 24 hours, sliding. */
  readonly perDay?: Usdc
  readonly kinds?: readonly Kind[]
  /** ISO 3166-1 alpha-2. */
  readonly countries?: readonly string[]
  /** Keyed digests: who receives something is personal data, and is kept nowhere for this. */
  readonly recipients?: readonly string[]
  /** What costs more, a person approves first (docs/contributors/decisions/020). */
  readonly approveAbove?: Usdc
}

/** The limits of a wallet: what holds, and what is looser and holds from then on. */
export interface WalletLimits {
  readonly inForce: Rules
  readonly coming?: { readonly rules: Rules; readonly from: Date }
}

/** The rules by their published names, in the order in which they are looked at. */
export const limitNames = [
  'kinds',
  'countries',
  'recipients',
  'per_order',
  'per_day',
  'approve_above',
] as const
export type LimitName = (typeof limitNames)[number]

/** What one purchase asks of the limits of its payer. */
export interface SpendingQuery {
  readonly amount: Usdc
  readonly kind: Kind
  /** Absent on plans for many countries. */
  readonly country: string | undefined
  /** Digest of whom it goes to; absent where it goes to nobody in particular. */
  readonly recipient: string | undefined
  /** Whether a person has approved this very purchase. */
  readonly isApproved: boolean
}

/** An order that counts against the limit of a day. */
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
 * The limits of a wallet that now wants these rules. What they tighten holds at once. What they
 * loosen holds after the cooling, so that who talks an agent into it has to wait that long; until
 * then nothing is allowed that either the old or the new rules forbid.
 *
 * A change that takes the place of a looser one that is still to come keeps its time, since no more
 * is asked for than would have held then. Any other change waits anew.
 *
 * @param coolingMs how long the looser part waits; 0: not at all
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

/** Whether whatever these rules allow is allowed by the others as well. */
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

/** The rules that allow what both allow. */
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

/** The rules without those that are undefined. */
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

/**
 * The first rule that a purchase breaks, or undefined. Strict: what has no country fits no list of
 * countries, and what goes to nobody in particular fits no list of recipients.
 *
 * @param spent what counts against the limit of a day already
 */
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

/**
 * When the limit of a day will have room for the amount, if nothing else is bought meanwhile.
 * Undefined when it never will.
 */
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

/** The lower of two amounts of which either may be absent. */
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

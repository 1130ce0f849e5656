import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds } from '../../catalog/offer.ts'
import { wordingOf } from '../../catalog/purchase-body.ts'
import { approvalTokenOf } from '../../lib/ids.ts'
import { formatUsdc, type Usdc, usdc } from '../../lib/money.ts'
import { Refusal, type RefusalDetails } from '../../lib/refusal.ts'
import type { X402Payment } from '../../payments/payment.ts'
import { type Digest, hashOf } from '../../secrets/secrets.ts'
import { budgetSpent, receiversOf } from '../budgets.ts'
import { type In, idsFor } from '../order.ts'
import {
  type Approval,
  type ApprovalStore,
  type LimitName,
  LimitReached,
  type LimitStore,
  limitNames,
  type Opened,
  type OpenedFor,
  type OrderStore,
  type Rules,
  type Spend,
  type StepDeps,
  type WalletLimits,
} from '../ports.ts'
import { money, type Priced } from '../price.ts'
import type { PurchaseRequest } from '../replay.ts'

interface SpendingQuery {
  readonly amount: Usdc
  readonly kind: Kind
  /** Absent on plans for many countries. */
  readonly country: string | undefined
  /** Digests of all whom the goods reach. */
  readonly recipients: readonly string[]
  readonly isApproved: boolean
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
export function applyRules(
  limits: WalletLimits,
  newRules: Rules,
  { now, coolingMs }: { readonly now: Date; readonly coolingMs: number },
): WalletLimits {
  const currentRules = rulesAt(limits, now)
  if (coolingMs === 0 || isAsStrict(newRules, currentRules)) return { inForce: newRules }
  const cooled = new Date(now.getTime() + coolingMs)
  const { coming } = limits
  const isWaitedFor = coming && coming.from > now && isAsStrict(newRules, coming.rules)
  const from = isWaitedFor && coming.from < cooled ? coming.from : cooled
  return { inForce: stricter(currentRules, newRules), coming: { rules: newRules, from } }
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
  return {
    perOrder: lesser(one.perOrder, other.perOrder),
    perDay: lesser(one.perDay, other.perDay),
    kinds: common(one.kinds, other.kinds),
    countries: common(one.countries, other.countries),
    recipients: common(one.recipients, other.recipients),
    approveAbove: lesser(one.approveAbove, other.approveAbove),
  }
}

export function hasRules(rules: Rules): boolean {
  return Object.values(rules).some((rule) => rule !== undefined)
}

/** Strict: an offer without a country is on no list of countries, and one without a recipient on no list of those. */
export function limitHit(rules: Rules, query: SpendingQuery, spent: Usdc): LimitName | undefined {
  return limitNames.find((name) => isBroken[name](rules, query, spent))
}

const isBroken: Readonly<
  Record<LimitName, (rules: Rules, asked: SpendingQuery, spent: Usdc) => boolean>
> = {
  kinds: ({ kinds }, { kind }) => isOutside(kinds, kind),
  countries: ({ countries }, { country }) => isOutside(countries, country),
  // Every way to the goods must be allowed.
  recipients: ({ recipients: allowed }, { recipients }) =>
    allowed !== undefined &&
    (recipients.length === 0 || recipients.some((one) => isOutside(allowed, one))),
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
  knownDigests: readonly string[] = [],
): string {
  const wording = `recipient:${wallet.toLowerCase()}:${text}`
  return knownDigests.find((candidate) => digest.matches(wording, candidate)) ?? digest.of(wording)
}

export interface CheckDeps extends Pick<StepDeps, 'digest' | 'now'> {
  readonly limits: Pick<LimitStore, 'find' | 'spends'>
}

interface SpendingCheck {
  readonly rules: Rules
  readonly query: SpendingQuery
  readonly spends: readonly Spend[]
}

export interface Within {
  readonly refusal: Refusal | undefined
  readonly recipients: readonly string[]
  /** A person must approve a purchase above this (`requireApproval`). */
  readonly approveAbove: Usdc | undefined
}

/** The record checks again when the order is opened, with the digests of the recipient from here. */
export async function beforeLimits(
  deps: CheckDeps,
  priced: Priced,
  payer: string,
): Promise<Within> {
  const check = await weigh(deps, priced, payer)
  const limit = limitHit(check.rules, check.query, spentOn(check.spends))
  return {
    refusal: limit && refusalFor(limit, check),
    recipients: check.query.recipients,
    approveAbove: check.rules.approveAbove,
  }
}

/** @throws Refusal `limit_exceeded` if the limits do not allow it by now, whatever was checked before */
export async function openWithin(
  deps: CheckDeps & { readonly orders: Pick<OrderStore, 'open'> },
  order: In<'PAYMENT_PENDING'>,
  sent: { readonly keys: readonly string[]; readonly priced: Priced } & OpenedFor,
): Promise<Opened> {
  try {
    const { keys, priced: _, ...opened } = sent
    return await deps.orders.open(order, keys, opened)
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error
    throw refusalFor(error.limit, await weigh(deps, sent.priced, order.payment.payer))
  }
}

async function weigh(deps: CheckDeps, priced: Priced, payer: string): Promise<SpendingCheck> {
  const { offer, lineItem, amount } = priced
  const now = deps.now()
  const stored = await deps.limits.find(payer)
  const rules = stored ? rulesAt(stored.limits, now) : noRules
  const isCounted = rules.perDay !== undefined
  const since = new Date(now.getTime() - dayMs)
  const recipients = receiversOf(lineItem.recipient).map((text) =>
    digestOf(deps.digest, { wallet: payer, text }, rules.recipients),
  )
  return {
    rules,
    query: { amount, kind: offer.kind, country: offer.country, recipients, isApproved: true },
    spends: isCounted ? await deps.limits.spends(payer, since) : [],
  }
}

function refusalFor(limit: LimitName, check: SpendingCheck): Refusal {
  const { message, ...details } = explanations[limit](check)
  const { extra, ...rest } = details
  return new Refusal('limit_exceeded', message, {
    parameter: 'offerId',
    ...rest,
    extra: { limit, ...extra },
    charged: 'no',
  })
}

type Explained = { readonly message: string } & Pick<
  RefusalDetails,
  'parameter' | 'allowed' | 'extra'
>

const explanations: Readonly<Record<LimitName, (weighed: SpendingCheck) => Explained>> = {
  kinds: ({ rules, query }) => ({
    message: `${limitedTo('kinds', rules.kinds)} This is ${goods[query.kind].words.article} ${query.kind}.`,
    allowed: rules.kinds ?? [],
    extra: { asked: query.kind },
  }),

  countries: ({ rules, query }) => ({
    message: `${limitedTo('countries', rules.countries)} This is ${query.country ? `for ${query.country}` : 'a plan for many countries'}.`,
    allowed: rules.countries ?? [],
    extra: { asked: query.country ?? null },
  }),

  recipients: ({ query: { kind, recipients }, rules }) => {
    const { receiver, words } = goods[kind]
    const count = rules.recipients?.length ?? 0
    // The list itself is not shown: a caller who meets the limits of a wallet need not know whom it pays.
    const allowed = `This wallet allows only ${count === 1 ? 'one recipient' : `${count} recipients`}.`
    const { noReceiver, otherReceiver } = words
    return {
      message: `${count === 0 ? nothingLeft('recipients') : allowed} ${recipients.length === 0 ? noReceiver : otherReceiver}`,
      parameter: receiver,
    }
  },

  per_order: ({ rules, query }) => ({
    message: `The spending limit of this wallet is ${textOf(rules.perOrder)} per order. This purchase costs ${textOf(query.amount)}.`,
    extra: { allows: moneyOf(rules.perOrder), asked: money(query.amount) },
  }),

  per_day: ({ rules, query, spends }) => {
    const { perDay } = rules
    const { amount } = query
    const spent = spentOn(spends)
    const until = perDay === undefined ? undefined : roomFrom(perDay, amount, spends)
    return {
      message: `The spending limit of this wallet is ${textOf(perDay)} in any 24 hours, and it has spent ${textOf(spent)}. This purchase costs ${textOf(amount)}.`,
      extra: {
        allows: moneyOf(perDay),
        asked: money(amount),
        spent: money(spent),
        remaining: perDay === undefined ? null : money(lessOf(perDay, spent)),
        until: until?.toISOString() ?? null,
      },
    }
  },

  approve_above: ({ rules }) => ({
    message: `A person must approve what costs more than ${textOf(rules.approveAbove)}, since a moment ago. Send the same request again.`,
    extra: { allows: moneyOf(rules.approveAbove) },
  }),
}

function limitedTo(what: 'kinds' | 'countries', list: readonly string[] = []): string {
  return list.length > 0
    ? `This wallet allows only these ${what}: ${list.join(', ')}.`
    : nothingLeft(what)
}

/** A list that was set is never empty. What two lists have in common may be, until only the new one holds. */
function nothingLeft(what: 'kinds' | 'countries' | 'recipients'): string {
  return `The old and the new limits of this wallet have no ${what} in common, so it can buy nothing until the new ones hold.`
}

function textOf(amount: Usdc | undefined): string {
  return amount === undefined ? 'less' : `${formatUsdc(amount)} USDC`
}

function moneyOf(amount: Usdc | undefined) {
  return amount === undefined ? null : money(amount)
}

export function lessOf(limit: Usdc, spent: Usdc): Usdc {
  return usdc(limit > spent ? limit - spent : 0n)
}

/** How long a person has to decide, and then how long the approved purchase can be made; milliseconds. */
export const approvalMs = 15 * 60_000

export interface ApprovalDeps extends Pick<StepDeps, 'vault' | 'digest' | 'now' | 'report'> {
  readonly approvals: ApprovalStore
  readonly approvalWords: {
    readonly urlOf: (token: string) => string
    readonly inWords: (priced: Priced) => string
  }
}

/** What a person reads before approving. The digest of the approval is that of its wording. */
export interface ApprovedText {
  readonly summary: string
  readonly wording: string
}

interface ApprovalQuestion {
  readonly request: PurchaseRequest
  readonly priced: Priced
  readonly payment: X402Payment
  /** The amount above which a person must approve; undefined: none. */
  readonly above: Usdc | undefined
}

/** An approval is good for one payment. @throws Refusal `approval_required` with its page, `approval_declined`, `budget_spent` */
export async function requireApproval(deps: ApprovalDeps, query: ApprovalQuestion): Promise<void> {
  const { request, priced, payment, above } = query
  const { amount, lineItem, offer } = priced
  if (above === undefined || amount <= above) return
  const wording = wordingOf(offer.kind, request.fields)
  const payer = payment.payer.toLowerCase()
  const purchase = { payer, purchase: deps.digest.of(wording), amount }
  const now = deps.now()
  if (await deps.approvals.use(purchase, idsFor(deps.digest, payment).id, now)) return
  const id = randomUUID()
  const shown: ApprovedText = { summary: deps.approvalWords.inWords(priced), wording }
  const approval = await deps.approvals.request(
    {
      ...purchase,
      id,
      tokenHash: hashOf(approvalTokenOf(deps.digest.of(wordedAs(id)))),
      most: lineItem.most ?? amount,
      bought: deps.vault.seal(shown, { order: id, field: 'approval' }),
      endsAt: new Date(now.getTime() + approvalMs),
    },
    now,
  )
  if ('openUntil' in approval) {
    const leftMs = approval.openUntil.getTime() - now.getTime()
    const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1_000))
    const spent = { budget: 'open_approvals', whose: 'payer', retryAfterSeconds } as const
    throw budgetSpent(deps, spent, 'no')
  }
  throw approval.decision === 'DECLINED'
    ? approvalDeclined(approval)
    : approvalRequired(deps, approval, above)
}

function approvalRequired(deps: ApprovalDeps, approval: Approval, above: Usdc): Refusal {
  const approvalUrl = deps.approvalWords.urlOf(tokenOf(deps.digest, approval))
  const message = `A person must approve this purchase first. Show them this page, and do not open it yourself: ${approvalUrl} Send the same request again once they have approved. It costs ${formatUsdc(approval.amount)} USDC, and what costs more than ${formatUsdc(above)} USDC needs an approval. Nothing is charged`
  return new Refusal('approval_required', `${message}.`, {
    charged: 'no',
    extra: {
      approvalUrl,
      expiresAt: approval.endsAt.toISOString(),
      allows: money(above),
      asked: money(approval.amount),
    },
  })
}

function approvalDeclined({ endsAt }: Approval): Refusal {
  const message =
    'A person has declined this purchase. Do not buy it in another way: ask them what they want instead.'
  return new Refusal('approval_declined', message, {
    charged: 'no',
    extra: { until: endsAt.toISOString() },
  })
}

const wordedAs = (id: string) => `approval:${id}`

/** The token of a stored approval, whichever key of the store derived it. */
function tokenOf({ every }: Digest, { id, tokenHash }: Approval): string {
  const token = every(wordedAs(id))
    .map(approvalTokenOf)
    .find((one) => hashOf(one) === tokenHash)
  if (token === undefined) throw new Error(`The key that the approval ${id} was made with is gone`)
  return token
}

import { goods } from '../../catalog/good.ts'
import { formatUsdc, type Usdc } from '../../lib/money.ts'
import { Refusal, type RefusalDetails } from '../../lib/refusal.ts'
import type { Digest } from '../../secrets/tokens.ts'
import type { In } from '../order.ts'
import {
  LimitReached,
  type LimitStore,
  type Opened,
  type OpenedFor,
  type OrderStore,
} from '../ports.ts'
import type { Priced } from '../price.ts'
import { lessOf, money } from './body.ts'
import {
  dayMs,
  digestOf,
  type LimitName,
  limitHit,
  noRules,
  type Rules,
  receiverOf,
  roomFrom,
  rulesAt,
  type Spend,
  type SpendingQuery,
  spentOn,
} from './rules.ts'

export interface CheckDeps {
  readonly limits: Pick<LimitStore, 'find' | 'spends'>
  readonly digest: Digest
  readonly now: () => Date
}

interface Weighed {
  readonly rules: Rules
  readonly asked: SpendingQuery
  readonly spends: readonly Spend[]
  /** The field that names its recipient. */
  readonly field: string
}

export interface Within {
  readonly refusal: Refusal | undefined
  readonly receiver: string | undefined
  /** A person must approve a purchase above this (`requireApproval`). */
  readonly approveAbove: Usdc | undefined
}

/** The record checks again when the order is opened, with the digest of the recipient from here. */
export async function beforeLimits(
  deps: CheckDeps,
  priced: Priced,
  payer: string,
): Promise<Within> {
  const weighed = await weigh(deps, priced, payer)
  const limit = limitHit(weighed.rules, weighed.asked, spentOn(weighed.spends))
  return {
    refusal: limit && refusalFor(limit, weighed),
    receiver: weighed.asked.recipient,
    approveAbove: weighed.rules.approveAbove,
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
    throw refusalFor(error.limit, await weigh(deps, sent.priced, order.tender.payer))
  }
}

async function weigh(deps: CheckDeps, priced: Priced, payer: string): Promise<Weighed> {
  const { offer, lineItem, amount } = priced
  const now = deps.now()
  const stored = await deps.limits.find(payer)
  const rules = stored ? rulesAt(stored.limits, now) : noRules
  const isCounted = rules.perDay !== undefined
  const since = new Date(now.getTime() - dayMs)
  const { field, text } = receiverOf(lineItem.recipient)
  const recipient =
    text === undefined
      ? undefined
      : digestOf(deps.digest, { wallet: payer, text }, rules.recipients)
  return {
    rules,
    asked: { amount, kind: offer.kind, country: offer.country, recipient, isApproved: true },
    spends: isCounted ? await deps.limits.spends(payer, since) : [],
    field,
  }
}

function refusalFor(limit: LimitName, weighed: Weighed): Refusal {
  const { message, ...details } = explained[limit](weighed)
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

const explained: Readonly<Record<LimitName, (weighed: Weighed) => Explained>> = {
  kinds: ({ rules, asked }) => ({
    message: `${limitedTo('kinds', rules.kinds)} This is ${goods[asked.kind].words.article} ${asked.kind}.`,
    allowed: rules.kinds ?? [],
    extra: { asked: asked.kind },
  }),

  countries: ({ rules, asked }) => ({
    message: `${limitedTo('countries', rules.countries)} This is ${asked.country ? `for ${asked.country}` : 'a plan for many countries'}.`,
    allowed: rules.countries ?? [],
    extra: { asked: asked.country ?? null },
  }),

  recipients: ({ asked, field, rules }) => ({
    message: `${limitedToRecipients(rules.recipients?.length)} ${otherReceiver(asked)}`,
    parameter: field,
  }),

  per_order: ({ rules, asked }) => ({
    message: `The spending limit of this wallet is ${textOf(rules.perOrder)} per order. This purchase costs ${textOf(asked.amount)}.`,
    extra: { allows: moneyOf(rules.perOrder), asked: money(asked.amount) },
  }),

  per_day: ({ rules, asked, spends }) => {
    const { perDay } = rules
    const { amount } = asked
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

function otherReceiver({ kind, recipient }: Weighed['asked']): string {
  const { noReceiver, otherReceiver } = goods[kind].words
  return recipient === undefined ? noReceiver : otherReceiver
}

function limitedTo(what: 'kinds' | 'countries', list: readonly string[] = []): string {
  return list.length > 0
    ? `This wallet allows only these ${what}: ${list.join(', ')}.`
    : nothingLeft(what)
}

/** The list itself is not shown: a caller who meets the limits of a wallet need not know whom it pays. */
function limitedToRecipients(count = 0): string {
  if (count === 0) return nothingLeft('recipients')
  return `This wallet allows only ${count === 1 ? 'one recipient' : `${count} recipients`}.`
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

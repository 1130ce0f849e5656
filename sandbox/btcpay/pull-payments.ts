import { z } from 'zod'
import { formatDecimal, parseDecimal, worthDecimals } from './amounts.ts'
import { coinOfMethod, coins, isTicker, symbols } from './coins.ts'
import type { Deps } from './deps.ts'
import { invalid, notFound, parsed } from './errors.ts'
import { newId } from './ids.ts'
import type { PullPayment } from './models.ts'
import { cancelPayout } from './payouts.ts'

const requestSchema = z.object({
  name: z.string().max(50, 'The name should be maximum 50 characters.').nullish(),
  description: z.string().nullish(),
  amount: z.union([z.string(), z.number()]),
  currency: z.string(),
  autoApproveClaims: z.boolean().nullish(),
  startsAt: z.int().nullish(),
  expiresAt: z.int().nullish(),
  payoutMethods: z.array(z.string()).nullish(),
})

type Request = z.infer<typeof requestSchema>

/** The coins that can be paid out. Monero has no payouts in BTCPay Server. */
export const payoutMethods = symbols
  .map((symbol) => coins[symbol])
  .filter(({ paysOut }) => paysOut)
  .map(({ methodId }) => methodId)

export function createPullPayment(deps: Deps, body: unknown, now: number): PullPayment {
  const request = parsed(requestSchema, body)
  const pull: PullPayment = {
    type: 'pull-payment',
    id: newId(),
    name: request.name ?? null,
    description: request.description ?? null,
    currency: currencyOf(request),
    amount: amountOf(request),
    autoApproveClaims: request.autoApproveClaims ?? false,
    ...timesOf(request, now),
    archived: false,
    methods: methodsOf(request.payoutMethods),
  }
  deps.ledger.commit(pull)
  return pull
}

function amountOf({ amount }: Request): string {
  const worth = parseDecimal(String(amount), worthDecimals)
  if (worth === undefined || worth <= 0n) throw invalid('amount', 'The amount should more than 0.')
  return formatDecimal(worth, worthDecimals)
}

function currencyOf(request: Request): string {
  const currency = request.currency.trim().toUpperCase()
  if (currency !== 'USD' && !isTicker(currency)) throw invalid('currency', 'Invalid currency')
  return currency
}

function timesOf({ startsAt, expiresAt }: Request, now: number) {
  const times = {
    startsAt: startsAt ? startsAt * 1_000 : now,
    expiresAt: expiresAt ? expiresAt * 1_000 : null,
  }
  if (times.expiresAt !== null && times.expiresAt < times.startsAt) {
    throw invalid('expiresAt', 'expiresAt should be higher than startAt')
  }
  return times
}

function methodsOf(asked: readonly string[] | null | undefined): readonly string[] {
  if (asked === null || asked === undefined) return payoutMethods
  if (asked.length === 0) {
    throw invalid('payoutMethods', 'At least one payout method is required')
  }
  for (const [index, method] of asked.entries()) {
    if (!coinOfMethod(method)?.paysOut) {
      throw invalid(`payoutMethods[${index}]`, 'Invalid or unsupported payment method')
    }
  }
  return asked
}

/** @throws ApiError 404 if there is no such pull payment */
export function pullPaymentOf({ ledger }: Deps, id: string): PullPayment {
  const pull = ledger.find('pull-payment', id)
  if (!pull) throw notFound('pullpayment')
  return pull
}

/** Archives a pull payment: it accepts no more claims, and payouts that were not sent yet are cancelled. */
export function archivePullPayment(deps: Deps, id: string): void {
  const pull = pullPaymentOf(deps, id)
  deps.ledger.commit({ ...pull, archived: true })
  for (const payout of deps.ledger.all('payout')) {
    const isOpen = payout.state === 'AwaitingApproval' || payout.state === 'AwaitingPayment'
    if (payout.pullPaymentId === id && isOpen) cancelPayout(deps, payout.id)
  }
}

import { z } from 'zod'
import type { CoinPayout, HandPayouts, PayoutRecord, SeenPayout } from '../../checkouts/ports.ts'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import { type Coin, formatUnits, parseUnits } from '../../payments/coins.ts'
import {
  noteTransaction,
  operatorPays,
  type PaidBack,
  type PayBackFault,
  same,
} from '../../payments/payment.ts'
import {
  callGreenfield,
  describe,
  type Greenfield,
  type GreenfieldPayout,
  type GreenfieldRefusal,
  type GreenfieldResponse,
  isKeyRefused,
  type PullPayment,
  payoutSchema,
  pullPaymentSchema,
  readOfStore,
  segment,
  storePath,
  type Unanswered,
} from './greenfield.ts'

export interface PayoutDeps {
  readonly greenfield: Greenfield
  readonly methods: readonly BtcpayMethod[]
  readonly hands: HandPayouts
  readonly record: Pick<PayoutRecord, 'find' | 'choose' | 'keep'>
}

/**
 * Sends money to a buyer through a pull payment of BTCPay, which has our reference as its name and exactly
 * the amount, and is claimed once for the buyer's address. One reference pays once because
 *
 * - BTCPay grants claims on a pull payment up to its amount, so each pays at most once;
 * - the record has the one that a reference claims from, chosen once and for good before the first claim.
 *
 * A creation whose answer was lost may take effect at any time: it adds a pull payment that nobody claims from.
 *
 * Greenfield shows no payouts of an archived pull payment, sent or not. So the store archives none, and one that somebody
 * else has archived may have paid, as may one that disappears from BTCPay: then an operator decides.
 */
export async function payOut(deps: PayoutDeps, payout: CoinPayout): Promise<PaidBack> {
  // Checked first, for every coin: what an operator has paid by hand is never paid again.
  const byHand = await deps.hands.find(payout.reference)
  if (byHand !== undefined) return { outcome: 'paid', transaction: byHand }
  if (payout.coin === 'XMR') return byOperator(payout)

  // Read before BTCPay is asked: what was seen until now must be in every later list.
  const stored = await deps.record.find(payout.reference)
  const listed = await pullPaymentsOf(deps, payout)
  if (listed.outcome !== 'ok') return unsent(listed)
  const { pullPayment } = stored
  if (pullPayment !== null && isMissing([pullPayment], idsOf(listed.value))) return gone()
  const method = deps.methods.find(
    ({ coin, network }) => coin === payout.coin && network === payout.network,
  )
  if (listed.value.length > 0)
    return continuePayout(deps, payout, { method, stored, pulls: listed.value })
  if (method === undefined) return byOperator(payout)
  const made = await createPullPayment(deps.greenfield, method.id, payout)
  if (made.outcome !== 'ok') return notMade(made, payout)
  return continuePayout(deps, payout, { method, stored, pulls: [made.value] })
}

function pullPaymentsOf({ greenfield }: PayoutDeps, { reference }: CoinPayout) {
  return listPullPayments(greenfield, (name) => name === reference)
}

interface AtBtcpay {
  readonly method: BtcpayMethod | undefined
  readonly stored: SeenPayout
  readonly pulls: readonly PullPayment[]
}

async function continuePayout(
  deps: PayoutDeps,
  payout: CoinPayout,
  { method, stored, pulls }: AtBtcpay,
): Promise<PaidBack> {
  const { greenfield, record } = deps
  if (!pulls.every((pull) => isFor(pull, payout))) {
    return blocked('payout_mismatch', 'BTCPay has another amount under the name of this payout.')
  }
  const candidates = pulls.filter(({ id }) => id === (stored.pullPayment ?? id))
  if (candidates.some(({ archived }) => archived)) return hidden()
  const claimables = await claimablesOf(greenfield, candidates)
  if (claimables.outcome !== 'ok') return unsent(claimables)
  const { pull, payouts } = await chosenOf(record, payout, stored, claimables.value)
  if (pull === undefined) return pending('another pull payment was chosen for it meanwhile')

  const seen = idsOf(payouts)
  if (isMissing(stored.payouts, seen)) return whyMissing(deps, payout, pull)
  if (isMissing(seen, stored.payouts)) await record.keep(payout.reference, seen)
  const result = confirmationOf(payouts, payout)
  if (result !== undefined) return result
  // The operator has taken the coin off since, or another network for it.
  if (method === undefined) return byOperator(payout)
  const claimed = await claimPullPayment(greenfield, method.id, pull, payout)
  if (claimed.outcome === 'ok') {
    await record.keep(payout.reference, [claimed.value.id])
    return resultOf(claimed.value, payout)
  }
  return claimed.outcome === 'refused' ? notClaimed(claimed, payout) : pending(claimed.reason)
}

/** Without a choice on record, one that was claimed from already: the record may be older than BTCPay. */
async function chosenOf(
  record: PayoutDeps['record'],
  { reference }: CoinPayout,
  stored: SeenPayout,
  claimables: readonly Claimable[],
): Promise<Claimable | { readonly pull: undefined; readonly payouts: readonly [] }> {
  const first = claimables.find(({ payouts }) => payouts.length > 0) ?? claimables[0]
  const chosen = stored.pullPayment ?? (first && (await record.choose(reference, first.pull.id)))
  return claimables.find(({ pull }) => pull.id === chosen) ?? { pull: undefined, payouts: [] }
}

/** It may have been archived after it was listed. */
async function whyMissing(deps: PayoutDeps, payout: CoinPayout, { id }: PullPayment) {
  const listed = await pullPaymentsOf(deps, payout)
  if (listed.outcome !== 'ok') return unsent(listed)
  return listed.value.find((one) => one.id === id)?.archived ? hidden() : gone()
}

function isMissing(ids: readonly string[], list: readonly string[]): boolean {
  return ids.some((id) => !list.includes(id))
}

function idsOf(all: readonly { readonly id: string }[]): readonly string[] {
  return all.map(({ id }) => id)
}

function confirmationOf(
  payouts: readonly GreenfieldPayout[],
  payout: CoinPayout,
): PaidBack | undefined {
  const live = payouts.filter(({ state }) => state !== 'Cancelled')
  if (
    // Plugins may write Ethereum addresses in another case.
    live.some((one) => !same(one.destination, payout.to) || !isAmount(one.originalAmount, payout))
  ) {
    return blocked('payout_mismatch', 'BTCPay pays this to another address or in another amount.')
  }
  const sent = live.find(({ state }) => state === 'Completed' || state === 'InProgress') ?? live[0]
  if (sent !== undefined) return resultOf(sent, payout)
  return payouts.length > 0 ? cancelled() : undefined
}

function resultOf(one: GreenfieldPayout, payout: CoinPayout): PaidBack {
  switch (one.state) {
    case 'AwaitingApproval':
      return pending('the payout waits in BTCPay to be approved')
    case 'AwaitingPayment':
      return pending('the payout waits in BTCPay to be sent')
    case 'InProgress':
      return pending('the payout is sent and not confirmed yet')
    case 'Cancelled':
      return cancelled()
    case 'Completed': {
      const transaction = transactionOfProof(one.paymentProof)
      if (transaction !== undefined) return { outcome: 'paid', transaction }
      const reason = `BTCPay calls it paid and names no transaction of ${payout.coin}; an operator notes it.`
      return blocked(noteTransaction, reason)
    }
  }
}

function notMade(response: Unanswered, payout: CoinPayout): PaidBack {
  const isUnsendable =
    response.outcome === 'refused' && response.fields.some((field) => /^payoutMethods/i.test(field))
  return isUnsendable ? byOperator(payout) : unsent(response)
}

function notClaimed(no: GreenfieldRefusal, payout: CoinPayout): PaidBack {
  switch (no.code) {
    case 'payment-method-not-supported':
      return byOperator(payout)
    // One payout to an address at a time, over all stores of BTCPay. Or this very one was claimed meanwhile.
    case 'duplicate-destination':
      return pending(
        'BTCPay has another payout to the same address under way, in any of its stores',
      )
    case 'overdraft':
    case 'archived':
      return pending(describe(no))
    default:
      return refusal(no)
  }
}

function refusal(no: GreenfieldRefusal): PaidBack {
  if (isKeyRefused(no)) {
    return blocked('processor_key', `${describe(no)}: the API key lacks a permission.`)
  }
  // BTCPay may be restarting, so a 404 can be gone the next moment.
  return no.status === 404 ? pending(describe(no)) : blocked('payout_refused', `${describe(no)}.`)
}

function unsent(response: Unanswered): PaidBack {
  return response.outcome === 'refused' ? refusal(response) : pending(response.reason)
}

function byOperator({ coin, network }: CoinPayout): PaidBack {
  const reason = `BTCPay sends no ${coin} on ${network} by itself; an operator pays it by hand.`
  return blocked(operatorPays, reason)
}

/** Whoever cancelled it, a person or BTCPay, had a reason, so it is not claimed again. */
function cancelled(): PaidBack {
  return blocked('payout_cancelled', 'The payout was cancelled in BTCPay.')
}

/** BTCPay had the payout and does not know it any more. It may have been sent before that. */
function gone(): PaidBack {
  const reason = 'BTCPay does not show a payout any more that it had; it may have been sent.'
  return blocked('payout_gone', reason)
}

/** Whoever archived it: BTCPay cancels what waits, but not what is being sent, and shows neither. */
function hidden(): PaidBack {
  const reason = 'Its pull payment is archived in BTCPay, which hides whether it was sent.'
  return blocked('payout_archived', reason)
}

function pending(reason: string): PaidBack {
  return { outcome: 'pending', reason }
}

function blocked(code: PayBackFault, reason: string): PaidBack {
  return { outcome: 'blocked', code, reason }
}

/** BTCPay lists all pull payments at once, of about 400 bytes each: room for some 80,000 refunds. */
const maxListBytes = 32 * 1024 * 1024

const namePattern = /^[\w-]{1,50}$/

export interface Claimable {
  readonly pull: PullPayment
  readonly payouts: readonly GreenfieldPayout[]
}

export async function listPullPayments(
  greenfield: Greenfield,
  isNamed: (name: PullPayment['name']) => boolean,
): Promise<GreenfieldResponse<readonly PullPayment[]>> {
  const path = '/pull-payments?includeArchived=true'
  const schema = z.array(pullPaymentSchema)
  const response = await readOfStore(greenfield, schema, path, maxListBytes)
  if (response.outcome !== 'ok') return response
  const ours = response.value.filter(({ name }) => isNamed(name))
  return { outcome: 'ok', value: ours.sort((a, b) => (a.id < b.id ? -1 : 1)) }
}

export async function claimablesOf(
  greenfield: Greenfield,
  pulls: readonly PullPayment[],
): Promise<GreenfieldResponse<readonly Claimable[]>> {
  const claimables: Claimable[] = []
  for (const pull of pulls) {
    const path = `/pull-payments/${segment(pull.id)}/payouts?includeCancelled=true`
    const response = await callGreenfield(greenfield, z.array(payoutSchema), {
      method: 'GET',
      path,
    })
    if (response.outcome !== 'ok') return response
    claimables.push({ pull, payouts: response.value })
  }
  return { outcome: 'ok', value: claimables }
}

function createPullPayment(
  greenfield: Greenfield,
  method: string,
  { reference, coin, units }: CoinPayout,
): Promise<GreenfieldResponse<PullPayment>> {
  if (!namePattern.test(reference)) throw new Error('The reference cannot name a pull payment')
  const body = {
    name: reference,
    description: 'Money that goes back to a buyer. It is claimed by the store.',
    amount: formatUnits(units, coin),
    currency: coin,
    // The store has decided on the payout already, so nobody has to approve the claim.
    autoApproveClaims: true,
    payoutMethods: [method],
  }
  return callGreenfield(greenfield, pullPaymentSchema, {
    method: 'POST',
    path: storePath(greenfield, '/pull-payments'),
    body,
  })
}

/** Claims the whole amount for the buyer. BTCPay refuses claims beyond it, and claims on an archived one. */
function claimPullPayment(
  greenfield: Greenfield,
  method: string,
  pull: PullPayment,
  { to, coin, units }: CoinPayout,
): Promise<GreenfieldResponse<GreenfieldPayout>> {
  return callGreenfield(greenfield, payoutSchema, {
    method: 'POST',
    path: `/pull-payments/${segment(pull.id)}/payouts`,
    body: { destination: to, amount: formatUnits(units, coin), payoutMethodId: method },
  })
}

function isFor({ currency, amount }: PullPayment, { coin, units }: CoinPayout): boolean {
  return currency.toUpperCase() === coin && isAmount(amount, { coin, units })
}

function isAmount(text: string, { coin, units }: Pick<CoinPayout, 'coin' | 'units'>): boolean {
  return unitsIn(text, coin) === units
}

export function unitsIn(text: string, coin: Coin): bigint | undefined {
  try {
    return parseUnits(text, coin)
  } catch {
    return undefined
  }
}

/** In the proof of a payout: `id` if it was noted by hand, `transactionId` if BTCPay sent it, or the end of a link. */
export function transactionOfProof(proof: Record<string, unknown> | null | undefined) {
  const entries = Object.entries(proof ?? {}).map(([key, value]) => [key.toLowerCase(), value])
  const fields: Record<string, unknown> = Object.fromEntries(entries)
  const { link } = fields
  const parts = typeof link === 'string' && link.length <= 500 ? link.split(/[/?#=]/) : []
  return (
    [fields['transactionid'], fields['id']].find(isTransaction) ?? parts.findLast(isTransaction)
  )
}

function isTransaction(value: unknown): value is string {
  return typeof value === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(value)
}

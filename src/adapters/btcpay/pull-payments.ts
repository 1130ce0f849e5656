import { z } from 'zod'
import type { CoinPayout } from '../../checkouts/ports.ts'
import { type Coin, formatUnits, parseUnits } from '../../payments/coins.ts'
import { ask, type Greenfield, type GreenfieldResponse, segment } from './greenfield.ts'
import {
  anything,
  type GreenfieldPayout,
  type PullPayment,
  payoutSchema,
  pullPaymentSchema,
} from './schemas.ts'

/**
 * BTCPay lists all pull payments of a store at once, and has no other way to find one. They take about 400
 * bytes each, so this is room for some 80,000 refunds.
 */
const maxListBytes = 32 * 1024 * 1024

/** BTCPay accepts no longer name. */
const namePattern = /^[\w-]{1,50}$/

/** A pull payment with everything that was ever claimed from it. */
export interface Claimable {
  readonly pull: PullPayment
  readonly payouts: readonly GreenfieldPayout[]
}

/** The pull payments with such names, archived ones too, always in the same order. */
export async function listPullPayments(
  greenfield: Greenfield,
  isNamed: (name: PullPayment['name']) => boolean,
): Promise<GreenfieldResponse<readonly PullPayment[]>> {
  const response = await ask(greenfield, z.array(pullPaymentSchema), {
    method: 'GET',
    path: `${pullPayments(greenfield)}?includeArchived=true`,
    maxBytes: maxListBytes,
  })
  if (response.outcome !== 'ok') return response
  const ours = response.value.filter(({ name }) => isNamed(name))
  return { outcome: 'ok', value: ours.sort((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Everything that was claimed from each of them, cancelled claims too. */
export async function claimablesOf(
  greenfield: Greenfield,
  pulls: readonly PullPayment[],
): Promise<GreenfieldResponse<readonly Claimable[]>> {
  const claimables: Claimable[] = []
  for (const pull of pulls) {
    const path = `/pull-payments/${segment(pull.id)}/payouts?includeCancelled=true`
    const response = await ask(greenfield, z.array(payoutSchema), { method: 'GET', path })
    if (response.outcome !== 'ok') return response
    claimables.push({ pull, payouts: response.value })
  }
  return { outcome: 'ok', value: claimables }
}

/** Creates a pull payment under our reference. Nothing is paid before it is claimed. */
export function createPullPayment(
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
  return ask(greenfield, pullPaymentSchema, {
    method: 'POST',
    path: pullPayments(greenfield),
    body,
  })
}

/** Claims the whole amount for the buyer. BTCPay refuses claims beyond it, and claims on an archived one. */
export function claim(
  greenfield: Greenfield,
  method: string,
  pull: PullPayment,
  { to, coin, units }: CoinPayout,
): Promise<GreenfieldResponse<GreenfieldPayout>> {
  return ask(greenfield, payoutSchema, {
    method: 'POST',
    path: `/pull-payments/${segment(pull.id)}/payouts`,
    body: { destination: to, amount: formatUnits(units, coin), payoutMethodId: method },
  })
}

/** Archives a pull payment: nothing can be claimed from it any more. */
export function archivePullPayment(
  greenfield: Greenfield,
  { id }: PullPayment,
): Promise<GreenfieldResponse<unknown>> {
  return ask(greenfield, anything, { method: 'DELETE', path: `/pull-payments/${segment(id)}` })
}

/** Whether the pull payment has the coin and the amount of this payout. */
export function isFor({ currency, amount }: PullPayment, { coin, units }: CoinPayout): boolean {
  return currency.toUpperCase() === coin && isAmount(amount, { coin, units })
}

export function isAmount(
  text: string,
  { coin, units }: Pick<CoinPayout, 'coin' | 'units'>,
): boolean {
  return unitsIn(text, coin) === units
}

/** An amount in smallest units; undefined if the text is not an amount of the coin. */
export function unitsIn(text: string, coin: Coin): bigint | undefined {
  try {
    return parseUnits(text, coin)
  } catch {
    return undefined
  }
}

function pullPayments({ storeId }: Greenfield): string {
  return `/stores/${segment(storeId)}/pull-payments`
}

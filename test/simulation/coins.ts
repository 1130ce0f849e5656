import fc from 'fast-check'
import {
  type Checkout,
  isClosed,
  maxKept,
  priceUnits,
  settledUnits,
  worthOf,
} from '../../src/checkouts/checkout.ts'
import { cardForm, checkoutWorld, invoiced } from '../doubles/checkouts.ts'
import { intercepted } from '../model/calls.ts'
import { sweep, sweepCheckouts } from '../model/sweep.ts'
import { faultsIn } from './trace.ts'
import type { Mutant } from './world.ts'

const minute = 60_000

const payment = fc.record({
  /** Of the price. */
  percent: fc.integer({ min: 1, max: 250 }),
  afterMinutes: fc.integer({ min: 0, max: 200 }),
  isConfirmed: fc.boolean(),
})

/** A purchase in a coin: what its buyer pays and when, and the calls at which a node dies. */
export const checkout = fc.record({
  /** Whether the supplier delivers. */
  isDelivered: fc.boolean(),
  payments: fc.array(payment, { maxLength: 4 }),
  /** Whether the payments that are not confirmed at once are dropped instead of confirmed later. */
  areDropped: fc.boolean(),
  /** Calls count from 1; the node dies before or after it. */
  deaths: fc.array(fc.record({ call: fc.integer({ min: 1, max: 60 }), isAfter: fc.boolean() }), {
    maxLength: 6,
  }),
})
export type CheckoutSpec = typeof checkout extends fc.Arbitrary<infer T> ? T : never

class Died extends Error {}

/** Wraps a part so that the node dies at some of its calls. */
function mortal<T extends object>(part: T, die: (isAfter: boolean) => void): T {
  return intercepted(part, async (_, run) => {
    die(false)
    const answer = await run()
    die(true)
    return answer
  })
}

function mortalWorld({ isDelivered, deaths }: CheckoutSpec, mutant: Mutant) {
  // A node that asks again, because another died over the first answer, gets the same answer.
  const no = { outcome: 'declined', code: 'NO', reason: 'no' } as const
  const world = checkoutWorld(isDelivered ? {} : { placed: no, held: no }, mutant.processor)
  let calls = 0
  let isMortal = true
  const die = (isAfter: boolean) => {
    if (!isAfter) calls += 1
    const isDue = deaths.some((one) => one.call === calls && one.isAfter === isAfter)
    if (isMortal && isDue) throw new Died(`at call ${calls}`)
  }
  const deps = {
    ...world.deps,
    checkouts: mortal(world.deps.checkouts, die),
    processor: mortal(world.deps.processor, die),
    orders: mortal(world.deps.orders, die),
    methods: { ...world.deps.methods, btcpay: mortal(world.deps.methods.btcpay, die) },
  }
  const survive = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Died)) throw error
    }
  }
  const live = async (ms: number) => {
    const until = world.clock.now().getTime() + ms
    while (world.clock.now().getTime() < until) {
      await survive(() => sweepCheckouts(deps, 10))
      await survive(() => sweep(deps, 10))
      world.clock.pass(minute)
    }
  }
  return { ...world, live, endDying: () => (isMortal = false) }
}

/**
 * Plays a purchase in a coin to its end: whatever is paid and wherever nodes die, all of it becomes the price of
 * one order, is returned once, or is dust.
 *
 * @returns the violations
 */
export async function playCheckout(spec: CheckoutSpec, mutant: Mutant = {}): Promise<string[]> {
  const world = mortalWorld(spec, mutant)
  const { id, orderId, invoice } = invoiced((await world.start()).checkout)
  let passed = 0
  for (const { percent, afterMinutes, isConfirmed } of inOrder(spec)) {
    await world.live((afterMinutes - passed) * minute)
    passed = afterMinutes
    const units = (invoice.units * BigInt(percent)) / 100n
    world.processor.pay(invoice.id, units, { confirmed: isConfirmed })
  }
  await world.live(60 * minute)
  if (spec.areDropped) world.processor.drop(invoice.id)
  else world.processor.confirm(invoice.id)
  await world.live(60 * minute)
  world.endDying()
  await world.live(30 * 60 * minute)
  return faultsOf(spec, world, { id, orderId })
}

const inOrder = ({ payments }: CheckoutSpec) =>
  payments.toSorted((one, other) => one.afterMinutes - other.afterMinutes)

async function faultsOf(
  spec: CheckoutSpec,
  world: ReturnType<typeof mortalWorld>,
  { id, orderId }: Pick<Checkout, 'id' | 'orderId'>,
): Promise<string[]> {
  const end = invoiced(await world.seen(id))
  const order = await world.orders.find(orderId)
  const payouts = [...world.processor.payouts.values()]
  const [refunds, returns] = [true, false].map((isRefund) =>
    payouts.filter(({ reference }) => (reference === orderId) === isRefund),
  ) as [typeof payouts, typeof payouts]
  const sumOf = (all: readonly { readonly units: bigint }[]) =>
    all.reduce((sum, { units }) => sum + units, 0n)
  const paid = spec.payments
    .filter(({ isConfirmed }) => isConfirmed || !spec.areDropped)
    .reduce((sum, { percent }) => sum + (end.invoice.units * BigInt(percent)) / 100n, 0n)
  const price = priceUnits(end)
  const kept = paid - price - sumOf(returns)
  const wanted = spec.isDelivered ? 'FULFILLED' : 'FULFILLMENT_FAILED'
  const owed = order?.state === 'FULFILLMENT_FAILED' ? price : 0n
  return faultsIn([
    [!isClosed(end), `a checkout ended as ${end.state}`],
    [settledUnits(end.invoice) !== paid, 'the record of an invoice differs from what was paid'],
    [world.processor.invoicesOf(id).length !== 1, 'one checkout has two invoices'],
    [kept < 0n, 'a checkout returned more than was paid'],
    [kept > 0n && worthOf(end, kept) > maxKept, 'a checkout kept money'],
    [payouts.some(({ to }) => to !== cardForm.refundTo), 'a return went to somebody else'],
    [order?.state !== (price === 0n ? undefined : wanted), `an order ended as ${order?.state}`],
    [sumOf(refunds) !== owed, 'a refund in a coin has another amount'],
  ])
}

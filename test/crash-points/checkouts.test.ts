import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isClosed, priceUnits, settledUnits, worthOf } from '../../src/checkouts/checkout.ts'
import { maxKept } from '../../src/checkouts/ledger.ts'
import { cardForm, checkoutWorld, invoiced } from '../doubles/checkouts.ts'
import { sweep, sweepCheckouts } from '../model/sweep.ts'

// A node dies at any call, before or after it, and the next one continues. Whatever the buyer pays and when,
// all of it becomes the price of one order, is returned once, or is dust.

const minute = 60_000

/** A payment of the buyer, in percent of the price. */
const payment = fc.record({
  percent: fc.integer({ min: 1, max: 250 }),
  afterMinutes: fc.integer({ min: 0, max: 200 }),
  isConfirmed: fc.boolean(),
})
type Payment = typeof payment extends fc.Arbitrary<infer T> ? T : never

/** The call at which a node dies, counted from 1, and whether it dies before or after it. */
const death = fc.record({ call: fc.integer({ min: 1, max: 60 }), isAfter: fc.boolean() })

class Died extends Error {}

/** Wraps a part so that the node dies at some of its calls. */
function mortal<T extends object>(part: T, die: (isAfter: boolean) => void): T {
  return new Proxy(part, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        die(false)
        const answer = await value.apply(target, given)
        die(true)
        return answer
      }
    },
  })
}

function mortalWorld(isDelivered: boolean, deaths: readonly { call: number; isAfter: boolean }[]) {
  // A node that asks again, because another died over the first answer, gets the same answer.
  const no = { outcome: 'declined', code: 'NO', reason: 'no' } as const
  const world = checkoutWorld(isDelivered ? {} : { placed: no, held: no })
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
    rails: { ...world.deps.rails, btcpay: mortal(world.deps.rails.btcpay, die) },
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

async function expectAccounted(
  payments: readonly Payment[],
  isDelivered: boolean,
  deaths: readonly { call: number; isAfter: boolean }[],
): Promise<void> {
  const world = mortalWorld(isDelivered, deaths)
  const { checkout } = await world.start()
  const { id, orderId, invoice } = invoiced(checkout)
  let passed = 0
  for (const { percent, afterMinutes, isConfirmed } of [...payments].sort(
    (one, other) => one.afterMinutes - other.afterMinutes,
  )) {
    await world.live((afterMinutes - passed) * minute)
    passed = afterMinutes
    world.processor.pay(invoice.id, (invoice.units * BigInt(percent)) / 100n, {
      confirmed: isConfirmed,
    })
  }
  await world.live(60 * minute)
  world.processor.confirm(invoice.id)
  await world.live(60 * minute)
  world.endDying()
  await world.live(30 * 60 * minute)

  const end = invoiced(await world.seen(id))
  const order = await world.orders.find(orderId)
  const payouts = [...world.processor.payouts.values()]
  const back = payouts.filter(({ reference }) => reference !== orderId)
  const backUnits = back.reduce((sum, { units }) => sum + units, 0n)
  const paid = payments.reduce(
    (sum, { percent }) => sum + (invoice.units * BigInt(percent)) / 100n,
    0n,
  )

  expect(isClosed(end)).toBe(true)
  expect(settledUnits(end.invoice)).toBe(paid)
  expect(world.processor.invoicesOf(id)).toHaveLength(1)
  const kept = paid - priceUnits(end) - backUnits
  expect(kept).toBeGreaterThanOrEqual(0n)
  expect(worthOf(end, kept)).toBeLessThanOrEqual(maxKept)
  expect(payouts.every(({ to }) => to === cardForm.refundTo)).toBe(true)
  expect(order?.state).toBe(
    priceUnits(end) === 0n ? undefined : isDelivered ? 'FULFILLED' : 'FULFILLMENT_FAILED',
  )
  const refunds = payouts.filter(({ reference }) => reference === orderId)
  expect(refunds.map(({ units }) => units)).toEqual(
    order?.state === 'FULFILLMENT_FAILED' ? [priceUnits(end)] : [],
  )
}

test('whatever is paid and wherever nodes die, all of it is accounted for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { maxLength: 4 }),
      fc.boolean(),
      fc.array(death, { maxLength: 6 }),
      expectAccounted,
    ),
    {
      numRuns: 150,
      examples: [
        [
          [{ percent: 100, afterMinutes: 7, isConfirmed: true }],
          false,
          [
            { call: 15, isAfter: false },
            { call: 31, isAfter: true },
          ],
        ],
      ],
    },
  )
})

test('a node may die at every single call of a checkout that is paid too much', async () => {
  const payments = [{ percent: 180, afterMinutes: 3, isConfirmed: true }]
  for (let call = 1; call <= 60; call += 1) {
    for (const isAfter of [false, true]) {
      await expectAccounted(payments, true, [{ call, isAfter }])
    }
  }
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import { memoryOrders } from '../../test/doubles/memory-orders.ts'
import { anyOrder } from '../../test/fixtures/any-order.ts'
import { newHash, pending } from '../../test/fixtures/sample-orders.ts'
import { isPayoutMove } from '../../test/model/lives.ts'
import {
  entriesOf,
  idsFor,
  isRefunding,
  moves,
  type Order,
  supplierReferenceOf,
} from '../orders/order.ts'
import { createDigest, createVault, type Sealed } from '../secrets/secrets.ts'
import { rebuild, replayToDelivered, replayToOwed, replayToRefunded } from './rebuild.ts'
import { reconcile } from './reconcile.ts'
import type { Look } from './sources.ts'
import {
  lives,
  look,
  refundWallet,
  sourcesOf,
  transfer,
  type World,
  worldOf,
} from './world.fixture.ts'

const wrong = createDigest([Buffer.alloc(32, 8)], 'orders')
const wrongKey: Look = { ...look, idsFor: (payment) => [idsFor(wrong, payment)] }

/** Rebuilds the record of this world with these keys, and returns the result and what was written. */
async function rebuilt(world: World, keys: Look) {
  const orders = memoryOrders(() => look.now)
  const sources = sourcesOf(world)
  const store = { atOnce: <T>(work: (writer: typeof orders) => Promise<T>) => work(orders) }
  const vault = createVault([Buffer.alloc(32, 7)])
  const deps = { ...sources, store, vault, digest: wrong, now: () => look.now }
  const told = await rebuild(deps, await reconcile(sources, keys))
  return { told, opened: (await orders.claimDue(9)).map(({ id }) => id) }
}

/** What is left of an order when its record is lost. */
function lost(...all: readonly (keyof typeof lives)[]): World {
  return { ...worldOf(all.map((name) => lives[name]())), orders: [] }
}

describe('a lost order is not paid back', () => {
  test('under a key that did not name the newest order on record: nothing is begun', async () => {
    const world = worldOf([lives.delivered(), lives.due()])
    world.orders.pop()
    await expect(rebuilt(world, wrongKey)).rejects.toThrow(/SECRETS_KEY/)
    expect((await rebuilt(world, look)).told).toMatchObject([{ became: 'refund_due' }])
  })

  test('under another key than that of its purchase, where no order is on record', async () => {
    const { told, opened } = await rebuilt(lost('delivered'), wrongKey)
    expect(told).toMatchObject([{ became: 'left', reason: expect.stringMatching(/SECRETS_KEY/) }])
    expect(opened).toEqual([])
  })

  test('under another key than that of its refund', async () => {
    const { told, opened } = await rebuilt(lost('refunded, never bought'), wrongKey)
    expect(told).toMatchObject([{ became: 'left', reason: expect.stringMatching(/SECRETS_KEY/) }])
    expect(opened).toEqual([])
  })

  test('beside another one whose purchase has no payment under these keys', async () => {
    const world = lost('due')
    const stray = supplierReferenceOf(newOrderId())
    const { purchase } = lives.delivered()
    world.purchases.push({ ...purchase, reference: stray })
    expect((await rebuilt(world, look)).told).toMatchObject([{ became: 'left' }])
  })

  test('when one of our wallets has paid its payer since, without the store', async () => {
    const world = lost('due')
    const [{ from: to, block } = transfer()] = world.received
    const plain = transfer({ from: refundWallet, to, block: block + 1 })
    const toOther = { ...plain, to: refundWallet }
    const beside = { ...world, paidBack: [toOther] }
    expect((await rebuilt(beside, look)).told).toMatchObject([{ became: 'refund_due' }])
    const { told, opened } = await rebuilt({ ...world, paidBack: [plain] }, look)
    const reason = expect.stringContaining(plain.transaction)
    expect(told).toMatchObject([{ became: 'left', reason }])
    expect(opened).toEqual([])
  })
})

test('a purchase that was paid through an invoice keeps nobody else from being paid back', async () => {
  const world = lost('due')
  const { purchase } = lives.delivered()
  const order = newOrderId()
  world.purchases.push({ ...purchase, reference: supplierReferenceOf(order) })
  world.invoices = new Map()
  world.paidInvoices = [{ id: 'inv', checkout: newCheckoutId(), order, madeAt: new Date(0) }]
  expect((await rebuilt(world, look)).told).toMatchObject([{ became: 'refund_due' }])
})

test('a lost order is paid back when its keys are known and nobody has paid it', async () => {
  const { told } = await rebuilt(lost('due', 'waiting', 'refunded'), look)
  expect(told.map(({ became }) => became).sort()).toEqual(['left', 'refund_due', 'refunded'])
})

const now = new Date('2026-03-05T10:00:00Z')
const payment = { method: 'x402', transaction: newHash(), block: 7 } as const
const refundTransaction = newHash()

/** Expects moves that the store itself could have made. */
function expectLegal(from: Order, steps: readonly Order[]): void {
  let at = from
  for (const step of steps) {
    if (step.state !== at.state) expect(moves[at.state], `from ${at.state}`).toContain(step.state)
    if (isRefunding(at) && isRefunding(step)) expect(isPayoutMove(at, step)).toBe(true)
    if (isRefunding(step) && !isRefunding(at)) expect(step.payout?.state).toBe('DUE')
    const { id, amount, payment } = step
    expect({ id, amount, payment }).toEqual({ id: at.id, amount: at.amount, payment: at.payment })
    expect(entriesOf(at, step).reduce((sum, entry) => sum + entry.amount, 0n)).toBe(0n)
    at = step
  }
}

test('from wherever an order stands, the way to its refund is legal, or there is none', () => {
  void fc.assert(
    fc.property(anyOrder, (order) => {
      const steps = replayToRefunded(order, refundTransaction, { now, payment })
      const ended = order.state === 'FULFILLED' || order.state === 'PAYMENT_FAILED'
      expect(steps === undefined).toBe(ended)
      if (steps === undefined) return
      const isBooked = isRefunding(order) && order.payout?.state === 'CONFIRMED'
      if (isBooked) return
      expectLegal(order, steps)
      expect(steps.at(-1)).toMatchObject({
        payout: { state: 'CONFIRMED', transaction: refundTransaction },
      })
    }),
    { numRuns: 500 },
  )
})

test('a refund alone does not tell that a pending order was paid', () => {
  expect(replayToRefunded(pending(), refundTransaction, { now })).toBeUndefined()
})

describe('the moves of a lost order', () => {
  const opened = pending()

  test('is delivered the way the store delivers', () => {
    const delivery = 'v1.sealed' as Sealed
    const steps = replayToDelivered(opened, { delivery }, { now, payment })
    expectLegal(opened, steps)
    expect(steps.at(-1)).toMatchObject({ state: 'FULFILLED', delivery, settlement: 'FINAL' })
    expect(steps.at(-1)).not.toHaveProperty('askedAt')
  })

  test.each([undefined, refundTransaction])(
    'is owed or refunded the way the store does it: %s',
    (refundedBy) => {
      const ends = { refundedBy, supply: { state: 'NONE' } } as const
      const steps = replayToOwed(opened, ends, { now, payment })
      expectLegal(opened, steps)
      expect(steps.at(-1)).toMatchObject({
        state: 'FULFILLMENT_FAILED',
        failure: { message: expect.stringContaining('was lost') },
        payout: { state: refundedBy ? 'CONFIRMED' : 'DUE' },
      })
    },
  )
})

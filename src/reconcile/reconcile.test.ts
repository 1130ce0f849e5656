import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newHash } from '../../test/fixtures/sample-orders.ts'
import { usdc } from '../lib/money.ts'
import type { In, Order } from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import { differences } from './differences.ts'
import { checkoutFaults, faults } from './faults.fixture.ts'
import type { ChainTransfer, WalletRole } from './ports.ts'
import { reconcile } from './reconcile.ts'
import {
  type Life,
  type LifeName,
  lives,
  look,
  refundOf,
  refundWallet,
  sourcesOf,
  statementOf,
  transfer,
  type World,
  worldOf,
} from './world.fixture.ts'

const lifeNames = Object.keys(lives) as LifeName[]
const other = `0x${'99'.repeat(20)}`
const former = `0x${'77'.repeat(20)}`

const codesOf = (name: string) => name.slice(0, name.indexOf(':')).split(',')
const cases = lifeNames.flatMap((life) =>
  Object.entries(faults[life] ?? {}).map(([name, doctor]) => [name, life, doctor] as const),
)

test.each(cases)('%s is found in an order that is %s', async (name, life, doctor) => {
  const patient = lives[life]() as Required<Life>
  const honest = worldOf([patient])
  const world = { ...honest, ...doctor(honest, patient) }
  const beside = worldOf(lifeNames.map((name) => lives[name]()))
  const mixed = {
    ...world,
    orders: [...beside.orders, ...world.orders],
    received: [...beside.received, ...world.received],
    paidBack: [...beside.paidBack, ...world.paidBack],
    purchases: [...beside.purchases, ...world.purchases],
  }
  const { differences: found } = await reconcile(sourcesOf(mixed), look)
  expect(found.map((one) => one.code).sort()).toEqual(codesOf(name))
  const others = new Set(beside.orders.map(({ id }) => id))
  expect(found.filter(({ order }) => order && others.has(order))).toEqual([])
})

test('a movement that a person vouches for is no difference, and an equal one beside it is', async () => {
  const world = worldOf([lives.delivered()])
  const [taken, again] = [3, 4].map((logIndex) =>
    transfer({ transaction: `0x${'cd'.repeat(32)}`, logIndex, from: refundWallet, to: other }),
  )
  if (!taken || !again) throw new Error('There are two')
  world.paidBack.push(taken, again)
  const why = { reason: 'Float back', by: 'Ann Smith' }
  world.acknowledged = [{ ...why, transaction: taken.transaction, logIndex: 3 }]
  const { differences: found, movements } = await reconcile(sourcesOf(world), look)
  expect(found.map(({ code }) => code)).toEqual(['refund_wallet_moved'])
  expect(movements.map(({ acknowledged }) => acknowledged?.by)).toEqual(['Ann Smith', undefined])
})

test('a payment or a refund stays a difference, whoever vouches for its transaction', async () => {
  const { payment, order } = lives.paid()
  const refund = { ...refundOf(order), nonce: newHash() }
  const world = { ...worldOf([]), received: [payment], paidBack: [refund] }
  const why = { reason: 'All is well', by: 'Mallory' }
  world.acknowledged = [payment, refund].map((one) => ({ ...one, ...why }))
  const { differences: found, movements } = await reconcile(sourcesOf(world), look)
  expect(found.map(({ code }) => code)).toEqual(['payment_without_order', 'refund_without_order'])
  expect(movements).toEqual([])
})

/** Adds an earlier address of this role to the present one, whose `since` is block 500. */
function withFormer(world: World, role: WalletRole): World {
  const wallets = world.wallets.map((wallet) =>
    wallet.role === role ? { ...wallet, since: new Date(500_000) } : wallet,
  )
  return { ...world, wallets: [...wallets, { role, address: former, isPresent: false }] }
}

test('what an address did before it was the store’s is not the store’s, but a payment always is', async () => {
  const world = withFormer(worldOf([]), 'pay_to')
  const { payment } = lives.paid()
  const [before, after] = [499, 500].map((block) => transfer({ block }))
  if (!before || !after) throw new Error('There are two')
  world.received.push(before, after, { ...payment, block: 400 })
  const { differences: found, totals } = await reconcile(sourcesOf(world), look)
  expect(found).toMatchObject([
    { code: 'unmatched_money', transaction: after.transaction },
    { code: 'payment_without_order', transaction: payment.transaction },
  ])
  expect(totals.chain.unmatched).toBe(after.amount + payment.amount)
})

test('what left a wallet before refunds came from it is no difference', async () => {
  const world = withFormer(worldOf([]), 'refunds')
  const moved = [499, 500].map((block) => transfer({ block, from: refundWallet, to: other }))
  const left = transfer({ block: 100, from: former, to: other })
  world.paidBack.push(...moved, left)
  const { differences: found } = await reconcile(sourcesOf(world), look)
  expect(found.map(({ transaction }) => transaction)).toEqual([
    moved[1]?.transaction,
    left.transaction,
  ])
})

test('an authorization of an earlier refund wallet can be vouched for', async () => {
  const world = withFormer(worldOf([]), 'refunds')
  const stolen = transfer({ from: former, to: other, nonce: newHash() })
  world.paidBack.push(stolen)
  const { differences: found } = await reconcile(sourcesOf(world), look)
  expect(found).toMatchObject([{ code: 'refund_without_order' }])
  world.acknowledged = [{ ...stolen, reason: 'The key leaked', by: 'Ann Smith' }]
  expect((await reconcile(sourcesOf(world), look)).differences).toEqual([])
})

test('an order on record names an earlier address that is not, and is counted', async () => {
  const life = lives.refunded()
  const world = worldOf([life])
  const seen = [
    transfer({ ...life.payment, to: former }),
    transfer({ ...life.refund, from: former }),
  ]
  const payment = { ...life.order.payment, payTo: former }
  world.orders = [{ ...life.order, payment } as Order]
  const known = sourcesOf({ ...world, received: [], paidBack: [] })
  const chain = {
    ...known.chain,
    transferIn: async (transaction: string) => seen.find((one) => one.transaction === transaction),
  }
  const report = await reconcile({ ...known, chain }, look)
  const { amount } = life.order
  expect(report.differences).toEqual([])
  expect(report.totals.chain).toEqual({ received: amount, refunded: amount, unmatched: 0n })
  expect(report.notChecked).toEqual([
    `what else came to ${former}; if it is yours, say --earlier-pay-to ${former}`,
    `what else left ${former}; if it is yours, say --earlier-refund-wallet ${former}`,
    ...report.notChecked.slice(2),
  ])
})

test('there is a fault here for every code', () => {
  const names = [...cases.map(([name]) => name), ...Object.keys(checkoutFaults)]
  const tried = new Set(names.flatMap(codesOf))
  expect([...tried].sort()).toEqual(Object.keys(differences).sort())
})

test('worlds without faults have no differences, however they are mixed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...lifeNames), { maxLength: 12 }), async (names) => {
      const { differences: found } = await reconcile(
        sourcesOf(worldOf(names.map((name) => lives[name]()))),
        look,
      )
      expect(found).toEqual([])
    }),
    { numRuns: 200 },
  )
})

test('what is younger than the patience is open, not different', async () => {
  const { order, payment } = lives.paid()
  const sources = sourcesOf({ ...worldOf([]), received: [payment] })
  const chain = { ...sources.chain, minedAt: async () => look.now }
  const report = await reconcile({ ...sources, chain }, look)
  expect(report).toMatchObject({ differences: [], lost: [] })
  expect(report.open).toMatchObject([{ waitsFor: 'store', transaction: payment.transaction }])
  expect(order.state).toBe('PAID')
})

test('a lost order is told with the id that it had, and with its refund', async () => {
  const { order, payment, refund } = lives.refunded()
  const world = { ...worldOf([]), received: [payment as ChainTransfer], paidBack: [refund] }
  const report = await reconcile(sourcesOf(world), look)
  expect(report.lost).toMatchObject([{ ids: [{ id: order.id }], refund: { transfer: refund } }])
  expect(report.differences).toMatchObject([
    { code: 'payment_without_order', order: order.id },
    { code: 'refund_not_booked', order: order.id },
  ])
})

test('two refunds of a lost order are a loss, and the first one is its refund', async () => {
  const { order, payment, refund } = lives.refunded()
  const again = { ...refundOf(order), from: former }
  const world = { ...worldOf([]), received: [payment as ChainTransfer], paidBack: [refund, again] }
  const { lost, differences: found } = await reconcile(sourcesOf(world), look)
  expect(lost).toMatchObject([{ refund: { transfer: refund } }])
  expect(found.map(({ code, transaction }) => [code, transaction])).toEqual([
    ['payment_without_order', payment?.transaction],
    ['refund_not_booked', refund.transaction],
    ['refunded_twice', again.transaction],
  ])
})

test('a refund that is signed and just landed is the store’s to book', async () => {
  const life = lives.due()
  const signed = { state: 'APPROVED', signed: {} } as unknown as Payout
  const order = { ...(life.order as In<'FULFILLMENT_FAILED'>), payout: signed, changedAt: look.now }
  const world = { ...worldOf([{ ...life, order }]), paidBack: [refundOf(order)] }
  expect(await reconcile(sourcesOf(world), look)).toMatchObject({ differences: [], unbooked: [] })
  const old = { ...world, orders: [{ ...order, changedAt: new Date(0) }] }
  expect((await reconcile(sourcesOf(old), look)).unbooked).toHaveLength(1)
})

test('a refund that an operator noted is a plain transfer, each for one order', async () => {
  const [one, other] = [lives.refunded(), lives.refunded()]
  const transfers = [one, other].map(({ order }, at) => ({
    ...transfer({ to: order.payment.payer.toLowerCase() }),
    transaction: one.refund.transaction,
    logIndex: at,
  }))
  const payout = { ...other.order.payout, transaction: one.refund.transaction } as Payout
  const world = worldOf([one, { ...other, order: { ...other.order, payout } }])
  world.handNotes = new Map([one, other].map(({ order }) => [order.id, one.refund.transaction]))
  const codes = async (handPaid: ChainTransfer[]) => {
    const sources = sourcesOf({ ...world, paidBack: [] })
    const chain = { ...sources.chain, plainTransfersIn: async () => handPaid }
    return (await reconcile({ ...sources, chain }, look)).differences.map(({ code }) => code)
  }
  expect(await codes(transfers)).toEqual([])
  expect(await codes(transfers.slice(1))).toEqual(['refund_booked_not_on_chain'])
  expect(await codes(transfers.map((one) => ({ ...one, amount: usdc(1n) })))).toHaveLength(2)
})

test('a part that does not answer ends the comparison', async () => {
  const sources = sourcesOf(worldOf([lives.delivered()]))
  const chain = { ...sources.chain, heads: () => Promise.reject(new Error('silent')) }
  await expect(reconcile({ ...sources, chain }, look)).rejects.toThrow('silent')
  const supplier = {
    purchases: async function* () {},
    purchase: async () => ({ outcome: 'unknown', reason: 'away' }) as const,
  }
  await expect(
    reconcile({ ...sources, suppliers: new Map([['zendit', supplier]]) }, look),
  ).rejects.toThrow('away')
  const store = { ...sources.store, oldestBlock: async () => undefined }
  await expect(reconcile({ ...sources, store }, look)).rejects.toThrow('--from-block')
})

describe('the books of two suppliers', () => {
  const bought = (supplier: string): Life => {
    const life = lives.delivered()
    const item = { ...life.order.item, source: { supplier, product: 'P' } }
    return { ...life, order: { ...life.order, item } as Order }
  }

  async function codes(zendit: readonly Life[], acme: readonly Life[]) {
    const sold = (lives: readonly Life[]) => lives.flatMap(({ purchase }) => purchase ?? [])
    const sources = sourcesOf(worldOf([...new Set([...zendit, ...acme])]))
    const suppliers = new Map([
      ['zendit', statementOf(sold(zendit))],
      ['acme', statementOf(sold(acme))],
    ])
    const { differences, totals } = await reconcile({ ...sources, suppliers }, look)
    return [differences.map(({ code }) => code), totals.supplier.delivered]
  }

  test('are compared each with the orders that were bought there', async () => {
    expect(await codes([bought('zendit')], [bought('acme')])).toEqual([[], 2])
  })

  test('are not those of an order that was bought from the other', async () => {
    const [found] = await codes([bought('acme')], [])
    expect(found).toEqual(['supplier_bought_twice', 'delivered_but_not_charged'])
  })
})

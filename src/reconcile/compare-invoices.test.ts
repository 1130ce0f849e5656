import { expect, test } from 'vitest'
import { newCheckoutId } from '../../test/doubles/ids.ts'
import {
  ended,
  opened,
  opening,
  ordered,
  payment,
  stepping,
} from '../../test/fixtures/sample-checkouts.ts'
import { usdc } from '../lib/money.ts'
import { atProcessor, checkoutFaults, soldWorld } from './faults.fixture.ts'
import type { ProcessorStatement } from './ports.ts'
import { replayToRefunded } from './rebuild.ts'
import { reconcile } from './reconcile.ts'
import { published, reportLines } from './report-text.ts'
import type { Report } from './sources.ts'
import { lives, look, sourcesOf, worldOf } from './world.fixture.ts'

test('a checkout, its order and its invoice that agree have no difference', async () => {
  const world = { ...soldWorld() }
  const open = opened(opening(), { payments: [payment(5n)] })
  Object.assign(world, atProcessor(world.sold, open, opening(), ended(opened(opening()))))
  const report = await reconcile(sourcesOf(world), look)
  expect(report).toMatchObject({ differences: [], open: [], totals: { checkouts: 4, orders: 1 } })
  expect(report.notChecked).toEqual([])
})

test.each(Object.entries(checkoutFaults))('%s is found', async (name, doctor) => {
  const world = soldWorld()
  const faulty = { ...world, ...doctor(world, {} as never) }
  const { differences } = await reconcile(sourcesOf(faulty), look)
  expect(differences.map(({ code }) => code)).toEqual([name.split(':')[0]])
})

test('a refund in a coin that is not on record is for --rebuild to book', async () => {
  const world = soldWorld()
  world.orders = [world.underWay]
  const [refund] = world.payouts ?? []
  const { unbooked } = await reconcile(sourcesOf(world), look)
  const { transaction } = refund ?? {}
  expect(unbooked).toEqual([{ order: world.underWay, refund: { transaction }, payment: undefined }])
  const [first] = replayToRefunded(world.underWay, transaction ?? '', { now: look.now }) ?? []
  expect(first).toMatchObject({ state: 'FULFILLMENT_FAILED', payout: { state: 'DUE' } })
})

test('goodwill in a coin agrees if the processor paid it, as it was given, and is told if it did not', async () => {
  const world = soldWorld()
  const [order] = world.orders
  if (order === undefined) throw new Error('the world has an order')
  const { id, payment: paid } = order
  const confirmedAt = new Date('2026-03-01T12:00:00Z')
  const gift = { amount: usdc(1_000_000n), reason: 'The code was used', by: 'ada' }
  const at = { version: 2, givenAt: confirmedAt, changedAt: confirmedAt }
  const payout = { state: 'CONFIRMED', transaction: 'ab'.repeat(32), confirmedAt } as const
  const receipt = { method: 'btcpay', transaction: 'cd'.repeat(32) } as const
  world.goodwill = [{ id, ...gift, ...at, payment: paid, receipt, payout }]
  const [refund] = world.payouts ?? []
  const sent = {
    ...refund,
    reference: `${id}-goodwill`,
    units: 1_000n,
    transaction: payout.transaction,
  }
  const codesWith = async (...more: object[]) => {
    const payouts = [...(world.payouts ?? []), ...more] as typeof world.payouts
    const { differences } = await reconcile(sourcesOf({ ...world, payouts }), look)
    return differences.map(({ code }) => code)
  }
  expect(await codesWith(sent)).toEqual([])
  expect(await codesWith()).toEqual(['payout_booked_not_found'])
  expect(await codesWith({ ...sent, units: 1_001n })).toEqual(['payout_differs'])
})

test('a processor that tells nothing is not asked for every invoice', async () => {
  const world = worldOf([lives.delivered()])
  const checkouts = Array.from({ length: 30 }, () => ended(opened(opening())))
  Object.assign(world, { checkouts, invoices: new Map() })
  const sources = sourcesOf(world)
  let asked = 0
  const processor = {
    ...(sources.processor as ProcessorStatement),
    read: async () => {
      asked += 1
      return { outcome: 'unknown', reason: 'silent' } as const
    },
  }
  const { silent } = await reconcile({ ...sources, processor }, look)
  expect([asked, silent]).toEqual([10, ['30 invoices of the payment processor']])
})

test('an invoice that the processor has forgotten is money that it does not show', async () => {
  const world = soldWorld()
  const sources = sourcesOf(world)
  const read = async () => ({ outcome: 'unknown', reason: 'gone', isGone: true }) as const
  const processor = { ...(sources.processor as ProcessorStatement), read }
  const { differences, silent } = await reconcile({ ...sources, processor }, look)
  expect(differences).toMatchObject([{ code: 'coins_booked_not_found', reference: world.sold.id }])
  expect(silent).toEqual([])
})

test('what is still worked on is under way, and no difference', async () => {
  const waiting = { ...ordered(opened(opening())), changedAt: look.now }
  const paying = opened(opening())
  const world = { ...worldOf([]), ...atProcessor(waiting, paying) }
  const paid = { ...paying.invoice, payments: [payment(9n)] }
  world.invoices.set(paid.id, paid)
  // Begun after the checkouts were read.
  const young = { id: 'Young', order: undefined, madeAt: look.now }
  world.paidInvoices = [{ ...young, checkout: newCheckoutId() }]
  const { differences, open } = await reconcile(sourcesOf(world), look)
  expect(differences).toEqual([])
  expect(open).toMatchObject([
    { waitsFor: 'store', reference: waiting.id, order: waiting.orderId },
    { waitsFor: 'store', reference: paying.id, detail: expect.stringContaining('0.00000009 BTC') },
  ])
})

test('what is on its way back is under way, and no difference', async () => {
  const world = soldWorld()
  const [refund, rest] = world.payouts ?? []
  if (!refund || !rest) throw new Error('the world has a refund and a return')
  world.checkouts = [stepping(world.sold, 'APPROVED')]
  const paid = await reconcile(sourcesOf(world), look)
  expect(paid.differences).toEqual([])
  expect(paid.open).toMatchObject([{ waitsFor: 'store', reference: rest.reference }])
  for (const payouts of [[refund], [refund, { ...rest, isSent: false }]]) {
    expect(await reconcile(sourcesOf({ ...world, payouts }), look)).toMatchObject({
      differences: [],
      open: [],
    })
  }
  // Sent after the processor was read.
  const [order] = world.orders
  const now = { state: 'CONFIRMED', transaction: refund.transaction, confirmedAt: look.now }
  const orders = [{ ...order, payout: now } as typeof order & {}]
  const young = await reconcile(sourcesOf({ ...world, orders, payouts: [] }), look)
  expect(young.differences).toEqual([])
  expect(young.open).toMatchObject([{ waitsFor: 'store', reference: refund.reference }])
})

test('a payout that the processor hides is not checked, and no difference', async () => {
  const world = soldWorld()
  const [refund] = world.payouts ?? []
  world.hidden = (world.payouts ?? []).map(({ reference }) => reference)
  world.payouts = refund ? [refund] : []
  const report = await reconcile(sourcesOf(world), look)
  expect(report.differences).toEqual([])
  expect(report.notChecked).toEqual([expect.stringMatching(/^2 payouts .* archived/)])
})

test('an operator may note the transaction that the processor does not name', async () => {
  const world = soldWorld()
  const [refund, rest] = world.payouts ?? []
  if (!refund || !rest) throw new Error('the world has a refund and a return')
  world.payouts = [{ ...refund, transaction: undefined }]
  world.handNotes.set(refund.reference, refund.transaction ?? '')
  world.handNotes.set(rest.reference, rest.transaction ?? '')
  const report = await reconcile(sourcesOf(world), look)
  expect(report.differences).toEqual([])
  expect(report.notChecked).toEqual([
    '2 payouts that operators noted: only the chains of the coins have them',
  ])
})

test('a note of the transaction that the processor names too is no second payment', async () => {
  const world = soldWorld()
  const [refund] = world.payouts ?? []
  if (!refund) throw new Error('the world has a refund')
  world.handNotes.set(refund.reference, refund.transaction?.toUpperCase() ?? '')
  expect((await reconcile(sourcesOf(world), look)).differences).toEqual([])
})

test('what was not looked at is said', async () => {
  const world = soldWorld()
  const without = await reconcile(sourcesOf({ ...world, invoices: undefined }), look)
  expect(without.notChecked[0]).toContain('invoices and payouts at the payment processor')
  expect(without.silent).toEqual([])
  const cases = [
    [{ invoices: new Map() }, '1 invoices of the payment processor'],
    [{ payouts: undefined }, 'the payouts of the payment processor'],
    [{ paidInvoices: undefined }, 'the list of paid invoices of the payment processor'],
  ] as const
  for (const [changes, silent] of cases) {
    const report = await reconcile(sourcesOf({ ...world, ...changes }), look)
    expect(report).toMatchObject({ differences: [], notChecked: [], silent: [silent] })
    expect(reportLines(report)).toEqual(
      expect.arrayContaining(['Nothing differs in what was told.', `No answer: ${silent}.`]),
    )
    expect(published(report).silent).toEqual([silent])
  }
  // A store that takes no coins is told nothing about them.
  const plain = await reconcile(sourcesOf(worldOf([lives.delivered()])), look)
  expect(plain.notChecked).toEqual([])
})

test('the report has the coins in their own units, and what was not checked', async () => {
  const world = soldWorld()
  const report: Report = await reconcile(sourcesOf(world), look)
  const BTC = { received: 12_507n, price: -12_500n, due: 0n, returned: -5n, kept: -2n }
  const invoices = { received: 12_500_000n, open: 0n, delivered: 0n, refunded: -12_500_000n }
  const totals = { ...report.totals, coins: { BTC }, invoices }
  const told = { ...report, totals, notChecked: ['what nobody told'] }
  const text = reportLines(told).join('\n')
  expect(text).toContain('1 checkout on record.')
  expect(text).toContain(
    '  BTC   received 0.00012507, price 0.000125, due 0, returned 0.00000005, kept 0.00000002',
  )
  expect(text).toMatch(/in coins +12\.50 +0\.00 +12\.50 +0\.00/)
  expect(text).toContain('Not checked: what nobody told.')
  const json = published(told)
  expect(json.totals.coins.BTC?.kept).toBe(-2n)
  expect(json.notChecked).toEqual(told.notChecked)
  const plain = await reconcile(sourcesOf(worldOf([lives.delivered()])), look)
  expect(reportLines(plain).join('\n')).not.toMatch(/coin|checkout|Not checked/)
})

import type { Pool } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import {
  ended,
  moveOn,
  opened,
  opening,
  payment,
  placedOnRecord,
  returning,
  stepping,
} from '../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilling,
  orderOnRecord,
  signedFor,
  unpayable,
} from '../../test/fixtures/sample-orders.ts'
import { openFacts } from '../adapters/storage/facts.ts'
import { bookByHand, createHandPayouts, createPayoutLimits } from '../adapters/storage/payouts.ts'
import { createStoreRecord } from '../adapters/storage/record.ts'
import {
  type Checkout,
  type CheckoutIn,
  returnReference,
  withReturn,
} from '../checkouts/checkout.ts'
import type { In, Order, Refunding } from '../orders/order.ts'
import { retryRefund } from '../orders/refund.ts'
import { operatorPays } from '../payments/payment.ts'
import { refundsCommand } from './refund.fixture.ts'

const { audit, caps, checkouts, database, orders, records, run, runOn, says } = refundsCommand()
const hash = (digit: string) => digit.repeat(64)
const paid = (...args: readonly string[]) => run('paid', ...args)
const hand = () => says('status')

/** A checkout on record with a return of 100 at this step. */
async function returnAt(
  step: 'DUE' | 'FAILED',
  code: string = operatorPays,
): Promise<CheckoutIn<'ENDED'>> {
  const first = opening()
  const { checkout } = await checkouts().open(first)
  const open = await moveOn(records, checkout, opened(first))
  const due = await moveOn(records, open, returning(ended(open, [payment(100n)]), 100n))
  if (step === 'DUE') return due
  return moveOn(records, due, withReturn(due, 1, { state: step, code, reason: 'x' }))
}

/** An order of an invoice whose refund an operator has to pay. */
async function orderByHand(): Promise<Order> {
  const { orderId } = await placedOnRecord(records)
  const first = (await orders().find(orderId)) as In<'PAYMENT_PENDING'>
  const at = new Date()
  const receipt = { method: 'btcpay', transaction: hash('c') } as const
  const settled = { receipt, settlement: 'FINAL', paidAt: at, deliverBy: at } as const
  const bought: In<'PAID'> = { ...first, state: 'PAID', ...settled }
  const given = failed(fulfilling(bought))
  const payout = { state: 'FAILED', code: operatorPays, reason: 'x' } as const
  const way: readonly Order[] = [bought, fulfilling(bought), { ...given, payout }]
  let order: Order = first
  for (const next of way) order = expectWon(await orders().move(order, next))
  return order
}

test('what an operator pays is listed, with amount and address, and noted once', async () => {
  expect(await hand()).not.toContain('to be paid by you')
  const order = await orderByHand()
  const checkout = await returnAt('FAILED')
  const reference = returnReference(checkout.id, 1)
  const list = await hand()
  expect(list).toMatch(/Refunds to be paid by you.*: 2, /)
  expect(list).toContain(`${order.id} `)
  expect(list).toMatch(/0\.000125 BTC on Bitcoin {2}to bc1qRefundTo7zq/)
  expect(list).toContain(`${reference} `)
  expect(list).toMatch(/0\.000001 BTC on Bitcoin {2}to bc1qRefundTo7zq/)

  expect(await paid(reference, hash('a'))).toEqual({
    isDone: true,
    lines: [`${reference}: noted as paid: 0.000001 BTC to bc1qRefundTo7zq`],
  })
  expect(await paid(order.id, hash('b'))).toMatchObject({ isDone: true })
  expect(await createHandPayouts(database()).find(reference)).toBe(hash('a'))
  expect(await createHandPayouts(database()).find(order.id)).toBe(hash('b'))
  // Both are due again at once, so that the store books them.
  expect(await checkouts().claimDue(9)).toMatchObject([{ id: checkout.id }])
  expect(await orders().claimDue(9)).toMatchObject([{ id: order.id, payout: { state: 'DUE' } }])
  expect(await hand()).not.toContain('to be paid by you')
  const { rows } = await database().query('select reference, noted_by from hand_payouts order by 1')
  expect(rows).toEqual([
    { reference, noted_by: 'ada' },
    { reference: order.id, noted_by: 'ada' },
  ])
  expect(await audit()).toEqual([
    ['ada', 'refund paid', `checkout:${checkout.id}`],
    ['ada', 'refund paid', `order:${order.id}`],
  ])
})

test('the same note again is done, and another transaction is refused', async () => {
  const { id } = await returnAt('FAILED')
  const reference = returnReference(id, 1)
  await paid(reference, hash('a'))
  expect(await paid(reference, hash('a'))).toEqual({
    isDone: true,
    lines: [`${reference}: was noted before, with this transaction`],
  })
  expect(await paid(reference, hash('b'))).toEqual({
    isDone: false,
    lines: [`${reference}: was noted before, with another transaction: ${hash('a')}`],
  })
  expect(await createHandPayouts(database()).find(reference)).toBe(hash('a'))
})

test('a transaction pays one buyer what it paid once, and two with two equal transfers', async () => {
  const [one, other, third] = [
    await returnAt('FAILED'),
    await returnAt('FAILED'),
    await returnAt('FAILED'),
  ].map(({ id }) => returnReference(id, 1)) as [string, string, string]
  const { find } = createHandPayouts(database())
  const second = (reference: string) => paid(reference, hash('a'), '--transfer', '2')
  await paid(one, hash('a'))
  const refused = await paid(other, hash('a'))
  expect(refused.isDone).toBe(false)
  expect(refused.lines[0]).toContain(`this transaction was noted for ${one}`)
  expect(refused.lines[0]).toContain('--transfer 2')
  expect(await find(other)).toBeUndefined()
  expect(await second(other)).toMatchObject({ isDone: true })
  expect(await find(other)).toBe(hash('a'))
  expect(await second(third)).toMatchObject({ isDone: false })
  expect(await second(one)).toMatchObject({ isDone: true })
  expect(await find(third)).toBeUndefined()
})

test.each(['note_transaction', 'payout_cancelled', 'payout_mismatch', 'payout_refused'])(
  'what the processor does not pay any more (%s) may be paid by hand and noted',
  async (code) => {
    const { id } = await returnAt('FAILED', code)
    const reference = returnReference(id, 1)
    // It may still be fixed in the processor, so nobody is told to pay it.
    expect(await hand()).not.toContain('to be paid by you')
    expect(await paid(reference, hash('a'))).toMatchObject({ isDone: true })
    expect(await createHandPayouts(database()).find(reference)).toBe(hash('a'))
    expect(await checkouts().claimDue(9)).toMatchObject([{ id }])
  },
)

test('what is not paid by hand is refused, and nothing is noted', async () => {
  const due = await returnAt('DUE')
  const stuck = await returnAt('FAILED', 'processor_key')
  for (const reference of [
    returnReference(due.id, 1),
    returnReference(due.id, 2),
    returnReference(stuck.id, 1),
    returnReference(newCheckoutId(), 1),
    newOrderId(),
  ]) {
    const { isDone, lines } = await paid(reference, hash('a'))
    expect(isDone).toBe(false)
    expect(lines[0]).toContain(`${reference}: it does not wait to be paid by hand`)
  }
  expect((await database().query('select from hand_payouts')).rowCount).toBe(0)
})

const stuckInUsdc = () => orderOnRecord(orders(), unpayable(failed(asked())))
const booked = async () => (await createStoreRecord(database()).ledger('x402')).refunded

test('a refund in USDC that an operator paid is booked with its note, and owed no more', async () => {
  const stuck = await stuckInUsdc()
  expect((await openFacts(database())).exposure).toBe(stuck.amount)
  const transaction = `0x${hash('a')}`
  expect(await paid(stuck.id, transaction)).toEqual({
    isDone: true,
    lines: [`${stuck.id}: booked as paid: 12.50 USDC to ${stuck.payment.payer}`],
  })
  expect(await orders().find(stuck.id)).toMatchObject({
    payout: { state: 'CONFIRMED', transaction },
  })
  expect(await booked()).toBe(-stuck.amount)
  expect((await openFacts(database())).exposure).toBe(0n)
  expect(await says('retry', '--all')).toBe('No refund has failed.')
  expect((await paid(stuck.id, transaction)).lines[0]).toContain('was noted before, with this')
  expect(await paid(stuck.id, `0x${hash('b')}`)).toMatchObject({ isDone: false })
  expect(await createHandPayouts(database()).find(stuck.id)).toBe(transaction)
})

test('no refund is booked as paid by hand while what was signed can still be paid', async () => {
  const given = failed(asked())
  const signed = { ...signedFor(given), validBefore: Math.floor(Date.now() / 1_000) + 1_800 }
  const payout = { state: 'FAILED', code: 'payee_declined', reason: 'x', signed } as const
  const stuck = await orderOnRecord(orders(), { ...given, payout })
  const { isDone, lines } = await paid(stuck.id, `0x${hash('a')}`)
  expect([isDone, lines[0]]).toEqual([false, expect.stringContaining('can be paid until')])
  expect(await orders().find(stuck.id)).toEqual(stuck)
  expect(await createHandPayouts(database()).find(stuck.id)).toBeUndefined()
  vi.setSystemTime(Date.now() + 3_600_000)
  onTestFinished(() => void vi.useRealTimers())
  expect(await paid(stuck.id, `0x${hash('a')}`)).toMatchObject({ isDone: true })
})

test('one transaction books two equal refunds in USDC only as two transfers', async () => {
  const [one, other] = [await stuckInUsdc(), await stuckInUsdc()]
  const transaction = `0x${hash('a')}`
  await paid(one.id, transaction)
  expect((await paid(other.id, transaction)).lines[0]).toContain('--transfer 2')
  expect(await orders().find(other.id)).toEqual(other)
  expect(await paid(other.id, transaction, '--transfer', '2')).toMatchObject({ isDone: true })
  expect(await audit()).toEqual([one, other].map(({ id }) => ['ada', 'refund paid', `order:${id}`]))
  expect(await booked()).toBe(-one.amount - other.amount)
})

test('a refund in USDC that somebody claims meanwhile is not noted', async () => {
  const stuck = await stuckInUsdc()
  const due = await retryRefund(orders(), stuck as Refunding)
  const made = { transaction: `0x${hash('a')}`, transfer: 1, by: 'ada' }
  expect(await bookByHand(database(), stuck as Refunding, made)).toEqual({ outcome: 'moved' })
  expect(await createHandPayouts(database()).find(stuck.id)).toBeUndefined()
  const { lines } = await paid(stuck.id, made.transaction)
  expect(lines[0]).toContain('its refund has not failed; it is DUE')
  expect(await orders().find(stuck.id)).toEqual(due)
})

test.each([
  ['a transaction of another chain', hash('a'), undefined, 'begins with 0x'],
  ['one whose payment vanished', `0x${hash('a')}`, 'LOST', 'vanished from the chain'],
])('no refund in USDC is booked with %s', async (_, transaction, settlement, why) => {
  const order = { ...unpayable(failed(asked())), ...(settlement ? { settlement } : {}) } as Order
  const stuck = await orderOnRecord(orders(), order)
  const { isDone, lines } = await paid(stuck.id, transaction)
  expect([isDone, lines[0]]).toEqual([false, expect.stringContaining(why)])
  expect(await orders().find(stuck.id)).toEqual(stuck)
})

test('retry makes a failed return due again, and says why it leaves another alone', async () => {
  const stuck = await returnAt('FAILED', 'no_funds')
  const due = await returnAt('DUE')
  const names = [stuck.id, due.id, newCheckoutId()].map((id) => returnReference(id, 1))
  const { isDone, lines } = await run('retry', ...names)
  expect(isDone).toBe(false)
  expect(lines).toEqual([
    `${names[0]}: due again`,
    `${names[1]}: it has not failed; it is DUE`,
    `${names[2]}: there is no such return`,
  ])
  const again = (await checkouts().find(stuck.id)) as Checkout
  expect(again).toMatchObject({ returns: [{ seq: 1, payout: { state: 'DUE' } }], version: 5 })
  expect(await checkouts().claimDue(9)).toEqual([again])
})

/** The database, on which another worker does this just before the command moves its record. */
function overtaken(act: () => Promise<unknown>): Pool {
  let isOvertaken = false
  const connect = async () => {
    const client = await database().connect()
    const query = async (...asked: Parameters<Pool['query']>) => {
      const { name } = asked[0] as { readonly name?: string }
      if (!isOvertaken && name?.startsWith('move_')) {
        isOvertaken = true
        await act()
      }
      return client.query(...asked)
    }
    return Object.assign(Object.create(client), { query })
  }
  return Object.assign(Object.create(database()), { connect })
}

test('retry and drop of a return call nothing done that another process changed meanwhile', async () => {
  const moved = 'another process changed it meanwhile; look at it again'
  for (const does of ['retry', 'drop'] as const) {
    const stuck = await returnAt('FAILED', 'payment_not_shown')
    const reference = returnReference(stuck.id, 1)
    const retried = overtaken(() => run('retry', reference))
    expect(await runOn(retried, does, reference)).toEqual({
      isDone: false,
      lines: [`${reference}: ${moved}`],
    })
  }
})

test('drop ends only a return whose money is not shown any more', async () => {
  const stuck = await returnAt('FAILED', 'payout_gone')
  const order = await stuckInUsdc()
  const names = [returnReference(stuck.id, 1), order.id]
  expect(await run('drop', ...names)).toEqual({
    isDone: false,
    lines: [
      `${names[0]}: it is owed; it failed with payout_gone`,
      `${order.id}: there is no such return`,
    ],
  })
  expect(await checkouts().find(stuck.id)).toEqual(stuck)
})

test('retry --all and start take the returns too', async () => {
  const stuck = await returnAt('FAILED', 'no_funds')
  const reference = returnReference(stuck.id, 1)
  expect(await run('retry', '--all')).toEqual({
    isDone: true,
    lines: [`${reference}: due again`],
  })
  const [due] = await checkouts().claimDue(1)
  await checkouts().release(due as Checkout, 60_000)
  const { lines } = await run('start')
  expect(lines).toEqual(['Refunds go out again. 1 of them were waiting.'])
  expect(await checkouts().claimDue(1)).toEqual([due])
})

test('the status has returns at their steps, until they are sent', async () => {
  const checkout = await returnAt('DUE')
  const status = () => says('status')
  expect(await status()).toContain('under way: 1, 0.10 USDC')
  await createPayoutLimits(database(), caps).allow(returnReference(checkout.id, 1))
  expect(await status()).toContain('Returns granted in the last hour 0.10 of 50.00 USDC')
  const sending = await moveOn(records, checkout, stepping(checkout, 'APPROVED'))
  expect(await status()).toContain(`${returnReference(checkout.id, 1)}    0.000001 BTC`)
  await moveOn(records, sending, stepping(sending, 'CONFIRMED'))
  expect(await status()).toContain('under way: none')
})

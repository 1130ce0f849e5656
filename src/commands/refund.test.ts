import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  orderOnRecord,
  payer,
  pending,
  refunded,
  unpayable,
} from '../../test/fixtures/sample-orders.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { createPayoutLimits } from '../adapters/storage/payouts.ts'
import type { Order } from '../orders/order.ts'
import { refundsCommand } from './refund.fixture.ts'

const { audit, caps, database, orders, run, says } = refundsCommand()
const status = () => says('status')
const record = (target: Order) => orderOnRecord(orders(), target)

/** The refund steps in the history of an order, oldest first. */
async function historyOf({ id }: Order): Promise<unknown[]> {
  const { rows } = await database().query(
    'select payout_state from order_events where order_id = $1 order by seq',
    [id],
  )
  return rows.map(({ payout_state }) => payout_state).filter((step) => step !== null)
}

test('status tells the switch, the grants against the caps, and what is open, and nothing else', async () => {
  expect(await status()).toContain('Refunds go out.')
  const due = await record(failed(asked()))
  const stuck = await record(unpayable(failed(asked())))
  const paid = await record(refunded(failed(asked())))
  const given = await record(fulfilled(asked()))
  await createPayoutLimits(database(), caps).allow(due.id)
  const text = await status()
  expect(text).toContain(
    'Refunds granted in the last hour 12.50 of 50.00 USDC, in the last day 12.50 of 80',
  )
  expect(text).toContain('failed and waiting for you: 1, 12.50 USDC')
  expect(text).toMatch(new RegExp(`${stuck.id} +12.50 USDC  to ${payer}  BLOCKED  since 20`))
  expect(text).toContain('under way: 1, 12.50 USDC')
  expect(text).toMatch(new RegExp(`${due.id} +12.50 USDC  to ${payer}  DUE  since 20`))
  for (const { id } of [paid, given]) expect(text).not.toContain(id)
})

test('since is when the money was owed, and does not move with later attempts', async () => {
  const asking = asked()
  const stuck = await record(unpayable(failed(asking)))
  const line = async () => (await status()).split('\n').find((each) => each.includes(stuck.id))
  const before = await line()
  const due = expectWon(await orders().move(stuck, { ...failed(asking), version: stuck.version }))
  await orders().move(due, { ...unpayable(failed(asking)), version: due.version })
  expect(await line()).toBe(before)
})

test('stop and start turn the switch for every node, with who and why on record', async () => {
  const { id } = await record(failed(asked()))
  const node = createPayoutLimits(database(), caps)
  await run('stop', '--reason', 'The key may have leaked.')
  expect(await node.allow(id)).toBe('stopped')
  expect(await status()).toMatch(/STOPPED since 20.* by ada: The key may have leaked\./)
  await run('start', '--reason', 'New key.')
  expect(await node.allow(id)).toBe('granted')
  const { rows } = await database().query(
    'select stopped, reason, changed_by from refund_switch order by turn offset 1',
  )
  expect(rows).toEqual([
    { stopped: true, reason: 'The key may have leaked.', changed_by: 'ada' },
    { stopped: false, reason: 'New key.', changed_by: 'ada' },
  ])
  expect(await audit()).toEqual([
    ['ada', 'refund stop', 'refunds'],
    ['ada', 'refund start', 'refunds'],
  ])
})

test('start makes refunds due that were held back', async () => {
  const order = await record(failed(asked()))
  await orders().release(order, 60_000)
  expect(await orders().claimDue(10)).toEqual([])
  const { lines } = await run('start')
  expect(lines).toEqual(['Refunds go out again. 1 of them were waiting.'])
  expect(await orders().claimDue(10)).toEqual([order])
})

test('retry makes one failed refund due again, as a move that the history keeps', async () => {
  const stuck = await record(unpayable(failed(asked())))
  const other = await record(unpayable(failed(asked())))
  const done = await run('retry', stuck.id)
  expect(done).toEqual({ isDone: true, lines: [`${stuck.id}: due again`] })
  expect(await audit()).toEqual([['ada', 'refund retry', `order:${stuck.id}`]])
  expect(await orders().find(stuck.id)).toMatchObject({ payout: { state: 'DUE' } })
  expect(await historyOf(stuck)).toEqual(['FAILED', 'DUE'])
  expect(await orders().find(other.id)).toEqual(other)
  // It is due now and leased to nobody.
  expect((await orders().claimDue(10)).map(({ id }) => id)).toEqual([stuck.id])
})

test('release lets one refund go that the denylist holds, with who and why in the audit', async () => {
  const payout = { state: 'FAILED', code: 'payee_declined', reason: 'x' } as const
  const held = await record({ ...failed(asked()), payout })
  const stuck = await record(unpayable(failed(asked())))
  const { isDone, lines } = await run('release', held.id, stuck.id, '--reason', 'Licence 7')
  expect(isDone).toBe(false)
  expect(lines).toEqual([
    `${held.id}: released, and due again`,
    `${stuck.id}: the denylist does not hold it; it failed with BLOCKED`,
  ])
  expect(await orders().find(held.id)).toMatchObject({ payout: { state: 'DUE', isReleased: true } })
  expect(await orders().find(stuck.id)).toEqual(stuck)
  expect(await readActs(database(), { limit: 9 })).toMatchObject([
    { by: 'ada', act: 'refund release', subject: `order:${held.id}`, reason: 'Licence 7' },
  ])
})

test('retry --all takes every failed refund that is owed', async () => {
  const stuck = await Promise.all([1, 2, 3].map(() => record(unpayable(failed(asked())))))
  const due = await record(failed(asked()))
  const { isDone, lines } = await run('retry', '--all')
  expect([isDone, lines.length]).toEqual([true, 3])
  for (const { id } of stuck) expect(lines).toContain(`${id}: due again`)
  expect(await orders().find(due.id)).toEqual(due)
  expect(await run('retry', '--all')).toMatchObject({
    lines: ['No refund has failed.'],
  })
})

test('a refund whose payment vanished is neither shown nor tried: nothing is owed', async () => {
  const payout = { state: 'FAILED', code: 'payment_vanished', reason: 'gone' } as const
  const vanished = await record({ ...failed(asked()), settlement: 'LOST', payout })
  expect(await status()).not.toContain(vanished.id)
  const all = await run('retry', '--all')
  expect(all).toEqual({ isDone: true, lines: ['No refund has failed.'] })
  expect(await run('retry', vanished.id)).toEqual({
    isDone: false,
    lines: [`${vanished.id}: its payment vanished from the chain, so nothing is owed`],
  })
  expect(await orders().find(vanished.id)).toEqual(vanished)
})

test('retry says why it leaves an order alone, and is then not done', async () => {
  const open = await record(pending())
  const given = await record(fulfilled(asked()))
  const due = await record(failed(asked()))
  const back = await record(refunded(failed(asked())))
  const unknown = newOrderId()
  const ids = [open, given, due, back].map(({ id }) => id)
  const { isDone, lines } = await run('retry', ...ids, unknown)
  expect(isDone).toBe(false)
  expect(lines).toEqual([
    `${open.id}: it is PAYMENT_PENDING and has no refund`,
    `${given.id}: it is FULFILLED and has no refund`,
    `${due.id}: its refund has not failed; it is DUE`,
    `${back.id}: its refund has not failed; it is CONFIRMED`,
    `${unknown}: there is no such order`,
  ])
  expect(await orders().find(due.id)).toEqual(due)
})

import { expect, test } from 'vitest'
import type { Script } from '../../test/doubles/orders.ts'
import type { Cancelled } from '../suppliers/supplier.ts'
import { goods, hour, minute, newLife, unknown, working } from './life.fixture.ts'
import { isRefunding, type Refunding } from './order.ts'
import { retryRefund } from './refund.ts'

/** An order that expired, for which the supplier has delivered nothing yet. */
async function expired(changes: Partial<Script> = {}) {
  const life = newLife({ ...working, ...changes })
  await life.begin()
  await life.live(11 * minute + 6 * hour)
  return life
}

const open = { supply: { state: 'OPEN' } }
const lost = { supply: { state: 'LOST' } }

test('goods are asked back once that is on record, and the supplier hears when that was done before', async () => {
  const { live, now, supplier } = await expired()
  const answers: Cancelled[] = [unknown, { outcome: 'cancelled' }]
  const asked: unknown[] = []
  const cancel: typeof supplier.cancel = async (_kind, _reference, isRepeat) => {
    asked.push([isRepeat, (now() as Refunding).supply])
    return answers.shift() ?? { outcome: 'cancelled' }
  }
  Object.assign(supplier, { cancel })
  expect(await live(3 * minute, { held: goods })).toMatchObject({ supply: { state: 'RETURNED' } })
  const onRecord = { state: 'OPEN', askedBackAt: expect.any(Date) }
  expect(asked).toEqual([
    [false, onRecord],
    [true, onRecord],
  ])
})

test.each(['hour_cap', 'day_cap', 'stopped'] as const)(
  'late goods are looked for while the refund is held back: %s',
  async (allowed) => {
    const { live, now } = await expired({ allowed })
    expect(now()).toMatchObject({ payout: { state: 'DUE' }, ...open })
    const later = await live(2 * minute, { held: goods })
    expect(later).toMatchObject({ payout: { state: 'DUE' }, ...lost })
  },
)

test('late goods are watched for until 72 h after the refund, though it was held back for days', async () => {
  const { live } = await expired({ allowed: 'day_cap' })
  await live(80 * hour)
  const paid = await live(60 * hour, { allowed: 'granted' })
  expect(paid).toMatchObject({ payout: { state: 'CONFIRMED' }, ...open })
  expect(await live(hour, { held: goods })).toMatchObject(lost)
})

test('late goods are watched for again after a refund that could not be paid for longer', async () => {
  const untaken = { placed: unknown, held: { outcome: 'none' } } as const
  const { live, now, orders } = await expired({ ...untaken, allowed: 'over_cap' })
  const failed = await live(80 * hour)
  expect(failed).toMatchObject({ payout: { state: 'FAILED' }, supply: { state: 'NONE' } })
  if (isRefunding(failed)) await retryRefund(orders, failed)
  await live(hour, { allowed: 'granted' })
  expect(now()).toMatchObject({ payout: { state: 'CONFIRMED' }, ...open })
  expect(await live(2 * hour, { held: goods })).toMatchObject(lost)
})

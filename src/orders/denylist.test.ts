import { expect, test } from 'vitest'
import { newOrder, orderWorld, type Script } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import { advance } from './advance.ts'
import type { Order } from './order.ts'
import { claimRefund } from './refund.ts'

const declined: Partial<Script> = { placed: { outcome: 'declined', code: 'X', reason: 'x' } }
const paid = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` } as const

/** An order that the supplier declines, and the denylist of its store. */
async function declinedOrder(
  script: Partial<Script>,
  listed: (payer: string) => readonly string[],
) {
  const world = orderWorld({ ...declined, ...script })
  const order = newOrder(world.deps)
  const denylist = new Set(listed(order.tender.payer.toLowerCase()))
  const deps = { ...world.deps, denylist }
  await world.orders.open(order, [])
  await advance(deps, order, 0)
  const seen = () => world.orders.history.at(-1) as Order
  const live = async () => {
    world.clock.pass(60_000)
    await sweep(deps, 10)
    return seen()
  }
  const claim = (key: string) => claimRefund(deps, seen(), { key, bodyHash: 'body' })
  const times = (call: string) => world.calls.filter((one) => one === call).length
  return { denylist, seen, live, claim, times, world, payer: order.tender.payer.toLowerCase() }
}

test('no refund is signed for a payee on the list, until it is off the list', async () => {
  const { denylist, seen, live, claim, times } = await declinedOrder({}, (payer) => [payer])
  const held = { payout: { state: 'FAILED', code: 'payee_declined' } }
  expect(seen()).toMatchObject(held)
  await claim('while it is listed')
  expect(await live()).toMatchObject(held)
  expect([times('sign'), times('payBack')]).toEqual([0, 0])
  denylist.clear()
  await claim('once it is not')
  expect(await live()).toMatchObject({ payout: { state: 'CONFIRMED' } })
})

test('a refund that is signed already is not sent again, and stays the same refund', async () => {
  const pending = { paidBack: { outcome: 'pending', reason: 'sent' } } as const
  const { denylist, seen, live, claim, times, world, payer } = await declinedOrder(
    pending,
    () => [],
  )
  expect(seen()).toMatchObject({ payout: { state: 'APPROVED' } })
  const sent = times('payBack')
  denylist.add(payer)
  expect(await live()).toMatchObject({ payout: { state: 'FAILED', signed: expect.anything() } })
  expect(times('payBack')).toBe(sent)
  denylist.clear()
  world.script.paidBack = paid
  await claim('once it is off the list')
  expect(await live()).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect(times('sign')).toBe(1)
})

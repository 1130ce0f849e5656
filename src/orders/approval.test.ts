import { expect, test } from 'vitest'
import { usdc } from '../lib/money.ts'
import { hashOf } from '../secrets/secrets.ts'
import { ada, expectOrder, purchaseWorld, refusalOf } from './purchase.fixture.ts'
import type { PurchaseRequest } from './replay.ts'

const minute = 60_000
/** The card costs 20 USDC. */
const asked: Partial<PurchaseRequest> = { approveAbove: usdc(19_999_999n) }

async function approve(world: ReturnType<typeof purchaseWorld>, address: unknown) {
  const now = world.deps.now()
  const said = { decision: 'APPROVED', now, endsAt: new Date(now.getTime() + 15 * minute) } as const
  const token = String(address).split('/').at(-1) ?? ''
  expect(await world.deps.approvals.decide(hashOf(token), said)).toBe(true)
}

test('nothing is written or taken before a person has approved', async () => {
  const world = purchaseWorld()
  const payment = await world.pay(asked)
  const refusal = await refusalOf(world.ask({ ...asked, payment }))
  expect(refusal).toMatchObject({
    code: 'approval_required',
    details: { charged: 'no', extra: { allows: { usdc: '19.999999' }, asked: { usdc: '20.00' } } },
  })
  expect([world.calls, world.orders.history]).toEqual([['check'], []])
  await approve(world, refusal.details.extra?.['approvalUrl'])
  expect(expectOrder(await world.ask({ ...asked, payment })).order.state).toBe('FULFILLED')
})

test('a price that is not above the limit needs nobody', async () => {
  const { buy } = purchaseWorld()
  expect(expectOrder(await buy({ approveAbove: usdc(20_000_000n) })).order.state).toBe('FULFILLED')
})

test('asking the price needs nobody and keeps nothing', async () => {
  const { ask } = purchaseWorld()
  expect((await ask(asked)).type).toBe('payment_required')
})

test('an approval is for the maximum that the buyer named', async () => {
  const world = purchaseWorld()
  const request = { ...asked, fields: { ...ada, maxUsdc: 25 } }
  const refusal = await refusalOf(world.buy(request))
  const token = String(refusal.details.extra?.['approvalUrl']).split('/').at(-1) ?? ''
  expect(await world.deps.approvals.find(hashOf(token))).toMatchObject({
    amount: 20_000_000n,
    most: 25_000_000n,
  })
})

import { expect, test } from 'vitest'
import { orderWorld } from '../../test/doubles/orders.ts'
import { asked, fulfilled, orderOnRecord, payer } from '../../test/fixtures/sample-orders.ts'
import { exposureOf, orderFacts } from '../adapters/storage/facts.ts'
import { createGoodwillStore, readGoodwill } from '../adapters/storage/goodwill.ts'
import { createPayoutLimits } from '../adapters/storage/payouts.ts'
import type { OrderId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { goodwillReferenceOf, goodwillSweeper } from '../orders/goodwill.ts'
import { refundsCommand } from './refund.fixture.ts'

/** Goodwill from the command to the payout, on the database of a store whose method is scripted. */

const store = refundsCommand({ hour: usdc(10_000_000n), day: usdc(15_000_000n) })
const { audit, caps, database, orders } = store

async function refunds(...args: readonly string[]) {
  const { isDone, lines } = await store.run(...args)
  return { isDone, text: lines.join('\n') }
}

const give = (id: OrderId, amount: string) =>
  refunds('goodwill', id, amount, '--reason', 'The code was used')

async function delivered(): Promise<OrderId> {
  return (await orderOnRecord(orders(), fulfilled(asked()))).id
}

/** A store whose method answers as scripted, and how it looks at what is due. */
function storeWorld() {
  const world = orderWorld()
  const goodwill = createGoodwillStore(database())
  const denylist = new Set<string>()
  const payoutLimits = createPayoutLimits(database(), caps)
  const deps = { ...world.deps, now: () => new Date(), goodwill, denylist, payoutLimits }
  const sweeper = goodwillSweeper(deps, 5)
  return {
    ...world,
    denylist,
    async look(id: OrderId) {
      await goodwill.hasten(id)
      await sweeper.look(5)
      await sweeper.settled()
      return (await goodwill.find(id))?.payout
    },
  }
}

test('is paid once, from the float, and booked', async () => {
  const { look, calls } = storeWorld()
  const id = await delivered()
  expect(await give(id, '5')).toEqual({
    isDone: true,
    text: `${id}: gives 5.00 USDC to ${payer}; the running store pays it`,
  })
  expect(await exposureOf(database())).toBe(5_000_000n)
  expect((await refunds('status')).text).toMatch(
    new RegExp(`${id}-goodwill +5.00 USDC  to 0x.*  DUE`),
  )
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED', transaction: `0x${'b'.repeat(64)}` })
  await look(id)
  expect(calls).toEqual(['sign', 'payBack'])
  expect(await readGoodwill(database())).toMatchObject([
    { id, amount: 5_000_000n, reason: 'The code was used', by: 'ada' },
  ])
  await give(id, '5')
  expect(await audit()).toEqual([['ada', 'refund goodwill', `order:${id}`]])
  expect(await exposureOf(database())).toBe(0n)
  const status = (await refunds('status')).text
  expect(status).toContain('Goodwill granted in the last hour 5.00 of 10.00 USDC')
  expect(status).not.toContain(id)
})

test('is refused in words', async () => {
  const { id } = await orderOnRecord(orders(), asked())
  expect((await give(id, '5')).text).toContain('it is FULFILLING')
  expect((await give(await delivered(), '99')).text).toContain('its price was 12.50 USDC')
})

test('waits for the caps and the switch, and the refunds of others do not wait for it', async () => {
  const { look, reports } = storeWorld()
  const [first, second] = [await delivered(), await delivered()]
  await give(first, '8')
  expect(await look(first)).toMatchObject({ state: 'CONFIRMED' })
  await give(second, '8')
  expect(await look(second)).toEqual({ state: 'DUE' })
  expect(reports).toEqual([{ name: 'goodwill_held', order: second, reason: 'hour_cap' }])
  const { rows } = await database().query(
    `select kind, sum(amount)::text from payout_grants group by kind`,
  )
  expect(rows).toEqual([{ kind: 'goodwill', sum: '8000000' }])

  await database().query(`begin; set local session_replication_role = replica;
    update payout_grants set granted_at = granted_at - interval '2 hours'; commit`)
  await refunds('stop', '--reason', 'a test')
  expect(await look(second)).toEqual({ state: 'DUE' })
  await refunds('start')
  expect(await look(second)).toEqual({ state: 'DUE' })
  expect(reports.at(-1)).toMatchObject({ reason: 'day_cap' })
})

test('that can never be paid is dropped: nobody waits for it, and a retry gives it again', async () => {
  const { look, denylist } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  expect((await refunds('drop', reference)).text).toContain('no goodwill was given')
  await give(id, '5')
  expect((await refunds('drop', reference)).text).toContain('it has not failed; it is DUE')
  denylist.add(payer.toLowerCase())
  await look(id)
  expect(await orderFacts(database())).toMatchObject({ goodwillFailed: 1, exposure: 5_000_000n })

  expect(await refunds('drop', reference)).toEqual({
    isDone: true,
    text: `${reference}: dropped; nothing is owed`,
  })
  expect(await orderFacts(database())).toMatchObject({ goodwillFailed: 0, exposure: 0n })
  expect((await refunds('status')).text).not.toContain(id)
  expect((await refunds('retry', '--all')).text).toBe('No refund has failed.')
  expect((await give(id, '5')).text).toContain('ada gave 5.00 USDC for it already')

  denylist.clear()
  expect((await refunds('retry', reference)).isDone).toBe(true)
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
})

test('to a payee who was listed meanwhile is held until a person releases it', async () => {
  const { look, denylist } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  await give(id, '5')
  denylist.add(payer.toLowerCase())
  await look(id)
  const { text } = await refunds('status')
  expect(text).toContain('Refunds held, because the payee is on the denylist: 1, 5.00 USDC')
  expect(text).toContain('kiosk402 refund release REFERENCE --reason')
  const release = () => refunds('release', reference, '--reason', 'Allowed by licence 7')
  expect(await release()).toEqual({ isDone: true, text: `${reference}: released, and due again` })
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
  expect((await release()).text).toContain('it has not failed; it is CONFIRMED')
})

test('that failed waits for a person, and a retry sends what was signed', async () => {
  const { look, script, denylist, reports, calls } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  await give(id, '5')
  denylist.add(payer.toLowerCase())
  expect(await look(id)).toMatchObject({ state: 'FAILED', code: 'payee_declined' })
  expect(reports).toEqual([{ name: 'goodwill_failed', order: id, reason: 'payee_declined' }])
  denylist.clear()
  const reason = 'The refund wallet does not hold enough USDC.'
  script.paidBack = { outcome: 'blocked', code: 'no_float', reason, mayStillPay: true }
  expect((await refunds('retry', reference)).text).toBe(`${reference}: due again`)
  expect(await look(id)).toMatchObject({ state: 'FAILED', code: 'no_float' })
  script.paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` }
  await refunds('retry', '--all')
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
  expect(calls).toEqual(['sign', 'payBack', 'payBack'])
  expect((await refunds('retry', reference)).text).toBe(
    `${reference}: it has not failed; it is CONFIRMED`,
  )
})

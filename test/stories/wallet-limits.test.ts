import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept } from './facts.ts'
import { callerFor } from './reading.ts'
import { bodyFor, buy, eventually, type Kind } from './requests.ts'
import { useStore } from './store.ts'
import { limitsAt } from './wallet-limits.ts'

const store = useStore()
let limits: ReturnType<typeof limitsAt>

beforeAll(async () => {
  limits = limitsAt(callerFor(store))
})

/** Lets so much time go by for what is coming to this wallet. */
async function pass(wallet: Buyer, hours: number): Promise<void> {
  await store.query(
    `update wallet_limits set coming_from = coming_from - $2 * interval '1 hour' where wallet = $1`,
    [wallet.address.toLowerCase(), hours],
  )
}

const half = { usdc: '0.50', atomic: '500000' }

describe('a purchase', () => {
  test('within the limits counts, and the next one that goes beyond is refused', async () => {
    const buyer = await limits.limitedTo({
      perOrderUsdc: '0.50',
      perDayUsdc: '0.75',
      kinds: ['voucher'],
    })
    expect((await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status).toBe(200)
    expect((await limits.as(buyer, 'GET')).body.lastDay).toMatchObject({
      spent: half,
      remaining: { usdc: '0.25', atomic: '250000' },
    })
    const [rows, balance] = [await rowsKept(store), await buyer.balance()]
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'limit_exceeded',
        charged: 'no',
        retryable: false,
        limit: 'per_day',
        asked: half,
        spent: half,
        remaining: { usdc: '0.25', atomic: '250000' },
        until: expect.stringMatching(/^\d{4}-/),
      },
    })
    expect(await buyer.balance()).toBe(balance)
    expect(await rowsKept(store)).toMatchObject({
      orders: rows['orders'],
      payments: rows['payments'],
      keys: rows['keys'],
    })
  })

  test.each<[string, Record<string, unknown>, Kind]>([
    ['kinds', { kinds: ['topup', 'esim'] }, 'voucher'],
    ['countries', { countries: ['DE'] }, 'voucher'],
    ['recipients', { recipients: ['+12025550199'] }, 'topup'],
    ['recipients', { recipients: ['ada@example.com'] }, 'voucher'],
    ['recipients', { recipients: ['+12025550123'] }, 'esim'],
    ['per_order', { perOrderUsdc: '0.1' }, 'topup'],
    ['per_day', { perDayUsdc: '0' }, 'esim'],
  ])('beyond %s is refused by its name, and nothing is charged', async (limit, body, kind) => {
    const buyer = await limits.limitedTo(body)
    const [rows, balance] = [await rowsKept(store), await buyer.balance()]
    const { answer } = await buy(store, buyer, kind, bodyFor(kind, 'OK'), {
      headers: { 'idempotency-key': `key-${buyer.address}` },
    })
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'limit_exceeded',
        limit,
        charged: 'no',
        type: `${store.url}/errors#limit_exceeded`,
      },
    })
    expect(await buyer.balance()).toBe(balance)
    expect(await rowsKept(store)).toEqual(rows)
  })

  test('for somebody who is listed goes through', async () => {
    const buyer = await limits.limitedTo({ recipients: ['+12025550123', 'Ada@Example.com'] })
    const body = { ...bodyFor('voucher', 'OK'), email: 'ada@example.com' }
    expect((await buy(store, buyer, 'topup', bodyFor('topup', 'OK'))).answer.status).toBe(200)
    expect((await buy(store, buyer, 'voucher', body)).answer.status).toBe(200)
    const [kept] = await store.query('select count(recipient_digest)::int as digests from orders')
    expect(kept).toEqual({ digests: 0 })
  })

  test('that was made before the limits is shown again all the same', async () => {
    const buyer = await newBuyer()
    const headers = { 'idempotency-key': `before-${buyer.address}` }
    const { answer, send } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'), {
      headers,
    })
    expect((await limits.as(buyer, 'PUT', { perDayUsdc: '0', kinds: ['esim'] })).status).toBe(200)
    const again = await send()
    expect(again).toMatchObject({ status: 200, body: { orderId: answer.body.orderId } })
    expect(again.body.orders[0].result.code).toBe(answer.body.orders[0].result.code)
  })

  test('of many at once goes through only while there is room', async () => {
    const buyer = await limits.limitedTo({ perDayUsdc: '1.7' })
    const balance = await buyer.balance()
    const done = await Promise.all(
      Array.from({ length: 8 }, () => buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))),
    )
    const statuses = done.map(({ answer }) => answer.status)
    expect(statuses.filter((status) => status === 200 || status === 202)).toHaveLength(3)
    expect(statuses.filter((status) => status === 403)).toHaveLength(5)
    const paid = async () => balance - (await buyer.balance())
    expect(await eventually(paid, (amount) => amount === 1_500_000n)).toBe(1_500_000n)
    expect((await limits.as(buyer, 'GET')).body.lastDay.spent.atomic).toBe('1500000')
  })
})

describe('what is looser', () => {
  const voucherOf = async (buyer: Buyer) =>
    (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status

  test('waits a day, and the answer says so', async () => {
    const buyer = await limits.limitedTo({ perOrderUsdc: '0.1' })
    const { body } = await limits.as(buyer, 'PUT', { perOrderUsdc: '5', kinds: ['voucher'] })
    expect(body).toMatchObject({
      inForce: { perOrder: { usdc: '0.10' }, kinds: ['voucher'] },
      coming: { limits: { perOrder: { usdc: '5.00' }, kinds: ['voucher'] } },
    })
    const waitMs = Date.parse(body.coming.from) - Date.now()
    expect(waitMs).toBeGreaterThan(23 * 3_600_000)
    expect(waitMs).toBeLessThanOrEqual(24 * 3_600_000)
    expect(await voucherOf(buyer)).toBe(403)
    await pass(buyer, 24)
    expect(await voucherOf(buyer)).toBe(200)
    expect((await limits.as(buyer, 'GET')).body).toMatchObject({
      inForce: { perOrder: { usdc: '5.00' }, kinds: ['voucher'] },
      coming: null,
    })
  })

  test('is what DELETE leads to, and can be called back', async () => {
    const buyer = await limits.limitedTo({ perDayUsdc: '0' })
    const lifted = await limits.as(buyer, 'DELETE')
    expect(lifted.body).toMatchObject({
      inForce: { perDay: { usdc: '0.00' } },
      coming: { limits: {} },
    })
    expect(await voucherOf(buyer)).toBe(403)
    expect((await limits.as(buyer, 'PUT', { perDayUsdc: '0' })).body.coming).toBeNull()
    await limits.as(buyer, 'DELETE')
    await pass(buyer, 24)
    expect(await voucherOf(buyer)).toBe(200)
  })
})

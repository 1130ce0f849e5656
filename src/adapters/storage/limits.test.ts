import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { describe, expect, it, test } from 'vitest'
import {
  expectWon,
  failed,
  fulfilled,
  fulfilling,
  newX402Payment,
  paid,
  payer,
  paymentFailed,
  pending,
  refunded,
  take,
} from '../../../test/fixtures/sample-orders.ts'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import { LimitReached, type Rules, type WalletLimits } from '../../orders/ports.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import type { Sealed } from '../../secrets/secrets.ts'
import { createLimitStore } from './limits.ts'
import { createOrderStore } from './orders.ts'
import { createStoreRecord } from './record.ts'
import { twoNodes } from './stores.fixture.ts'

const noon = new Date('2026-03-01T12:00:00Z')
const hour = 3_600_000
const later = (ms: number) => new Date(noon.getTime() + ms)

/** An order of 10 atomic units, placed at noon. */
const order = (changes: Partial<In<'PAYMENT_PENDING'>> = {}) =>
  pending({ amount: usdc(10n), placedAt: noon, changedAt: noon, ...changes })

const nodes = twoNodes(createOrderStore)

async function set(limits: Rules | WalletLimits, wallet = payer): Promise<void> {
  const { limits: store } = nodes()
  const wanted = 'inForce' in limits ? limits : { inForce: limits }
  expect(await store.replace(wallet, await store.find(wallet), wanted)).toBe(true)
}

/** Tries to open the order: 'opened', 'known', or the limit that refuses it. */
async function attempt(wanted: In<'PAYMENT_PENDING'>, ...recipients: string[]) {
  try {
    return (await nodes().store.open(wanted, [], { recipients })).isNew ? 'opened' : 'known'
  } catch (error) {
    if (error instanceof LimitReached) return error.limit
    throw error
  }
}

it('are those of the payer, in whatever case its address is written', async () => {
  await set({ perOrder: usdc(9n) }, payer.toLowerCase())
  expect(await attempt(order())).toBe('per_order')
  const other = { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` }
  expect(await attempt(order({ payment: other }))).toBe('opened')
})

it.each<[string, Rules, Partial<In<'PAYMENT_PENDING'>>, string | undefined, string]>([
  ['the amount of one order', { perOrder: usdc(10n) }, {}, undefined, 'opened'],
  ['one unit more', { perOrder: usdc(9n) }, {}, undefined, 'per_order'],
  ['the amount of a day', { perDay: usdc(10n) }, {}, undefined, 'opened'],
  ['one unit more in a day', { perDay: usdc(9n) }, {}, undefined, 'per_day'],
  ['nothing at all', { perDay: usdc(0n) }, { amount: usdc(1n) }, undefined, 'per_day'],
  ['a kind', { kinds: ['esim', 'voucher'] }, {}, undefined, 'opened'],
  ['another kind', { kinds: ['esim', 'topup'] }, {}, undefined, 'kinds'],
  ['no kind', { kinds: [] }, {}, undefined, 'kinds'],
  ['a country', { countries: ['DE', 'US'] }, {}, undefined, 'opened'],
  ['another country', { countries: ['US'] }, {}, undefined, 'countries'],
  ['a recipient', { recipients: ['a', 'b'] }, {}, 'b', 'opened'],
  ['two recipients', { recipients: ['a', 'b'] }, {}, 'ab', 'opened'],
  ['a recipient beside another', { recipients: ['a', 'b'] }, {}, 'bc', 'recipients'],
  ['another recipient', { recipients: ['a', 'b'] }, {}, 'c', 'recipients'],
  ['nobody in particular', { recipients: ['a', 'b'] }, {}, undefined, 'recipients'],
  [
    'several broken ones by the first',
    { perDay: usdc(1n), perOrder: usdc(1n), recipients: ['a'], countries: ['US'], kinds: [] },
    {},
    undefined,
    'kinds',
  ],
])('answer %s', async (_, rules, changes, recipient, expected) => {
  await set(rules)
  expect(await attempt(order(changes), ...(recipient ?? ''))).toBe(expected)
})

it('that are looser hold from their time on, and not before', async () => {
  const coming = { rules: { perOrder: usdc(10n) }, from: noon }
  await set({ inForce: { perOrder: usdc(9n) }, coming })
  expect(await nodes().limits.find(payer)).toMatchObject({
    limits: { inForce: { perOrder: 9n }, coming },
  })
  expect(await attempt(order({ placedAt: later(-1) }))).toBe('per_order')
  expect(await attempt(order())).toBe('opened')
  expect(await attempt(order({ amount: usdc(11n) }))).toBe('per_order')
})

describe('with approvals', () => {
  const bought = { payer: payer.toLowerCase(), purchase: 'a card' }
  const decided = { decision: 'APPROVED', now: noon, endsAt: later(hour) } as const

  async function approve(
    approval: { readonly most: bigint; readonly payer?: string },
    id: OrderId,
  ) {
    const { approvals } = nodes()
    const most = usdc(approval.most)
    const kept = await approvals.request(
      {
        ...{ ...bought, ...approval, most, amount: usdc(1n), endsAt: later(hour) },
        ...{ id: randomUUID(), tokenHash: randomUUID(), bought: 'sealed' as Sealed },
      },
      noon,
    )
    if ('openUntil' in kept) throw new Error('too many are open')
    await approvals.decide(kept.tokenHash, decided)
    const { payer } = kept
    expect(await approvals.use({ ...bought, payer, amount: usdc(1n) }, id, noon)).toBe(true)
  }

  it('let through what costs no more than passes alone', async () => {
    await set({ approveAbove: usdc(10n) })
    expect(await attempt(order())).toBe('opened')
    expect(await attempt(order({ amount: usdc(11n) }))).toBe('approve_above')
  })

  it('open the order whose approval was used, and no other', async () => {
    await set({ approveAbove: usdc(9n) })
    const wanted = order()
    await approve({ most: 10n }, wanted.id)
    expect(await attempt(order())).toBe('approve_above')
    expect(await attempt(wanted)).toBe('opened')
  })

  it('hold an approval to its price and to its payer', async () => {
    await set({ approveAbove: usdc(9n) })
    const [costly, foreign] = [order(), order()]
    await approve({ most: 9n }, costly.id)
    expect(await attempt(costly)).toBe('approve_above')
    await approve({ most: 10n, payer: `0x${'77'.repeat(20)}` }, foreign.id)
    expect(await attempt(foreign)).toBe('approve_above')
  })
})

describe('of a day', () => {
  const spent = async (at = noon) => {
    const spends = await nodes().limits.spends(payer, new Date(at.getTime() - 24 * hour))
    return spends.reduce((sum, { amount }) => sum + amount, 0n)
  }

  it('count what was placed in the last 24 hours, to the millisecond', async () => {
    await set({ perDay: usdc(25n) })
    expect(await attempt(order())).toBe('opened')
    expect(await attempt(order({ placedAt: later(hour) }))).toBe('opened')
    expect(await attempt(order({ placedAt: later(24 * hour - 1) }))).toBe('per_day')
    expect(await spent(later(24 * hour - 1))).toBe(20n)
    expect(await attempt(order({ placedAt: later(24 * hour) }))).toBe('opened')
    expect(await attempt(order({ placedAt: later(25 * hour - 1) }))).toBe('per_day')
    expect(await spent(later(25 * hour - 1))).toBe(20n)
  })

  const asked = (first: In<'PAYMENT_PENDING'>) => fulfilling(paid(first))
  const lost = (first: In<'PAYMENT_PENDING'>) => {
    const seen = { ...fulfilled(asked(first)), settlement: 'SEEN' } as const
    return [first, paid(first), asked(first), seen, { ...seen, settlement: 'LOST' } as const]
  }
  const givenUp = (first: In<'PAYMENT_PENDING'>) => [first, paid(first), asked(first)]
  it.each<[string, bigint, (first: In<'PAYMENT_PENDING'>) => readonly Order[]]>([
    ['that is not paid yet counts', 10n, (first) => [first]],
    ['whose payment failed does not count', 0n, (first) => [first, paymentFailed(first)]],
    ['that is delivered counts', 10n, (first) => [...givenUp(first), fulfilled(asked(first))]],
    [
      'whose money is on its way back counts',
      10n,
      (first) => [...givenUp(first), failed(asked(first))],
    ],
    ['whose payment vanished does not count', 0n, lost],
    [
      'whose money came back does not count',
      0n,
      (first) => {
        const end = failed(asked(first))
        return [...givenUp(first), end, refunded(end)]
      },
    ],
  ])('an order %s', async (_, counted, way) => {
    await set({ perDay: usdc(15n) })
    await take(nodes().store, way(order()))
    expect(await spent()).toBe(counted)
    expect(await attempt(order())).toBe(counted === 0n ? 'opened' : 'per_day')
  })

  it('let exactly as many of many at once through as there is room for, on two nodes', async () => {
    await set({ perDay: usdc(55n) })
    for (let round = 0; round < 8; round += 1) {
      const placedAt = later(round * 24 * hour)
      const attempts = Array.from({ length: 16 }, (_, index) =>
        (index % 2 ? nodes().store : nodes().other).open(order({ placedAt }), []),
      )
      const done = await Promise.allSettled(attempts)
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
      const reasons = done.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(reasons).toEqual(Array.from({ length: 11 }, () => new LimitReached('per_day')))
      expect(await spent(placedAt)).toBe(50n)
    }
  })
})

describe('on record', () => {
  it('leave nothing of an order that they do not allow', async () => {
    await set({ perOrder: usdc(9n) })
    const refused = order()
    await expect(nodes().store.open(refused, ['k'])).rejects.toThrow(LimitReached)
    expect(await nodes().store.find(refused.id)).toBeUndefined()
    expect(await nodes().store.findByPayment(paymentKeyOf(refused.payment))).toBeUndefined()
    expect(await nodes().store.findByKey(payer, 'k')).toBeUndefined()
    await set({ perOrder: usdc(10n) })
    expect((await nodes().store.open(refused, ['k'])).isNew).toBe(true)
  })

  it('are not asked about an order that there is already', async () => {
    const first = order()
    await nodes().store.open(first, ['k'])
    await set({ perDay: usdc(0n) })
    const known = { isNew: false, order: first }
    expect(await nodes().store.open(first, ['k'])).toEqual(known)
    expect(await nodes().other.open(order(), ['j', 'k'])).toEqual(known)
    const went = expectWon(await nodes().store.move(first, paid(first)))
    expect(went.state).toBe('PAID')
  })

  it('come back as they were stored', async () => {
    const rules: Rules = {
      perOrder: usdc(10n ** 18n),
      perDay: usdc(0n),
      kinds: ['esim'],
      countries: ['DE', 'US'],
      recipients: ['aa', 'bb'],
      approveAbove: usdc(10n ** 17n),
    }
    const limits = { inForce: rules, coming: { rules: {}, from: later(hour) } }
    await set(limits)
    expect((await nodes().limits.find(payer))?.limits).toStrictEqual(limits)
    await set({})
    expect((await nodes().limits.find(payer))?.limits).toStrictEqual({ inForce: {} })
  })

  it('are replaced by whoever knows the last ones, once', async () => {
    const { limits } = nodes()
    const wanted = { inForce: { perDay: usdc(1n) } }
    const first = await Promise.all(
      Array.from({ length: 8 }, () => limits.replace(payer, undefined, wanted)),
    )
    expect(first.filter(Boolean)).toHaveLength(1)
    const read = await limits.find(payer)
    const second = await Promise.all(
      Array.from({ length: 8 }, () => limits.replace(payer, read, { inForce: {} })),
    )
    expect(second.filter(Boolean)).toHaveLength(1)
    expect(await limits.replace(payer, read, undefined)).toBe(false)
    expect(await limits.replace(payer, await limits.find(payer), undefined)).toBe(true)
    expect(await limits.find(payer)).toBeUndefined()
    // A revision that was read before the limits were lifted and set again is outdated.
    expect(await limits.replace(payer, undefined, wanted)).toBe(true)
    expect(await limits.replace(payer, read, undefined)).toBe(false)
  })

  it('are forgotten when the last one was lifted and that is in force', async () => {
    const { limits } = nodes()
    const other = `0x${'77'.repeat(20)}`
    await set({ inForce: { perDay: usdc(1n) }, coming: { rules: {}, from: noon } })
    const coming = { rules: { perDay: usdc(2n) }, from: noon }
    await set({ inForce: { perDay: usdc(1n) }, coming }, other)
    expect(await limits.forgetLifted(later(-1))).toBe(0)
    expect(await limits.forgetLifted(noon)).toBe(1)
    expect(await limits.find(payer)).toBeUndefined()
    expect(await limits.find(other)).toBeDefined()
  })
})

test('who receives an order is told to the check, and not kept', async () => {
  await set({ recipients: ['the digest'] })
  const { id } = (await nodes().store.open(order(), [], { recipients: ['the digest'] })).order
  const { rows } = await nodes().pool.query(
    'select orders::text as text from orders where id = $1',
    [id],
  )
  expect(rows[0].text).not.toContain('the digest')
  const keep = `update orders set version = version + 1, checks = '{}' where id = $1`
  await expect(nodes().pool.query(keep, [id])).rejects.toThrow('orders_keep_no_checks')
})

/** A connection with a transaction that stays open until `commit`. */
async function held() {
  const client = await nodes().pool.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  await client.query('begin')
  const blocked = `select count(*)::int as count from pg_stat_activity
    where $1 = any (pg_blocking_pids(pid))`
  return {
    database: client as unknown as Pool,
    waiting: async () => (await nodes().pool.query(blocked, [rows[0].pid])).rows[0].count,
    commit: async () => {
      await client.query('commit')
      client.release()
    },
  }
}

test('a purchase waits for the first limits of its wallet too', async () => {
  const changing = await held()
  const first = { inForce: { perOrder: usdc(9n) } }
  expect(await createLimitStore(changing.database).replace(payer, undefined, first)).toBe(true)
  const opened = nodes().store.open(order(), [])
  const refused = expect(opened).rejects.toThrow(LimitReached)
  await expect.poll(changing.waiting).toBe(1)
  await changing.commit()
  await refused
})

test('the first limits wait for purchases that are being opened, so that these are counted', async () => {
  const buying = await held()
  expect((await createOrderStore(buying.database).open(order(), [])).isNew).toBe(true)
  const orders = nodes().store
  const isSet = set({ perDay: usdc(19n) })
  await expect.poll(buying.waiting).toBe(1)
  await buying.commit()
  await isSet
  await expect(orders.open(order(), [])).rejects.toThrow(LimitReached)
})

test('a record that is rebuilt is held to no limit, and the next purchase is again', async () => {
  await set({ perOrder: usdc(9n) })
  const record = createStoreRecord(nodes().pool)
  expect((await record.atOnce((orders) => orders.open(order(), []))).isNew).toBe(true)
  expect(await attempt(order())).toBe('per_order')
})

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { OrderId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { In, Order } from '../../src/orders/order.ts'
import { LimitReached } from '../../src/orders/ports.ts'
import type { Rules, WalletLimits } from '../../src/orders/spending-limits/rules.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { expectWon, type Nodes, take } from './order-store-nodes.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  newX402Payment,
  paid,
  payer,
  paymentFailed,
  pending,
  refunded,
} from './sample-orders.ts'
import { inTurn } from './two-nodes.ts'

const noon = new Date('2026-03-01T12:00:00Z')
const hour = 3_600_000
const later = (ms: number) => new Date(noon.getTime() + ms)

/** An order of 10 atomic units, placed at noon. */
const order = (changes: Partial<In<'PAYMENT_PENDING'>> = {}) =>
  pending({ amount: usdc(10n), placedAt: noon, changedAt: noon, ...changes })

const item = (changes: Partial<Order['item']>) => ({ item: { ...order().item, ...changes } })

async function set(nodes: Nodes, limits: Rules | WalletLimits, wallet = payer): Promise<void> {
  const { limits: store } = nodes()
  const wanted = 'inForce' in limits ? limits : { inForce: limits }
  expect(await store.replace(wallet, await store.find(wallet), wanted)).toBe(true)
}

/** Tries to open the order: 'opened', 'known', or the limit that refuses it. */
async function attempt(nodes: Nodes, wanted: In<'PAYMENT_PENDING'>, recipient?: string) {
  try {
    return (await nodes().store.open(wanted, [], { recipient })).isNew ? 'opened' : 'known'
  } catch (error) {
    if (error instanceof LimitReached) return error.limit
    throw error
  }
}

/** The contract of an order store about the spending limits of wallets. */
export function describeLimits(nodes: Nodes): void {
  it('let everything through while there are none', async () => {
    expect(await nodes().limits.find(payer)).toBeUndefined()
    expect(await attempt(nodes, order({ amount: usdc(10n ** 20n) }))).toBe('opened')
    await set(nodes, {})
    expect(await attempt(nodes, order({ amount: usdc(10n ** 20n) }))).toBe('opened')
  })

  it('are those of the payer, in whatever case its address is written', async () => {
    await set(nodes, { perOrder: usdc(9n) }, payer.toLowerCase())
    expect(await attempt(nodes, order())).toBe('per_order')
    const other = { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` }
    expect(await attempt(nodes, order({ tender: other }))).toBe('opened')
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
    await set(nodes, rules)
    expect(await attempt(nodes, order(changes), recipient)).toBe(expected)
  })

  it('by country refuse a plan for many', async () => {
    await set(nodes, { countries: ['DE'] })
    const { country: _, ...without } = order().item
    const plan = order({ item: { ...without, kind: 'esim' } })
    expect(await attempt(nodes, plan)).toBe('countries')
    expect(await attempt(nodes, order(item({ kind: 'esim' })))).toBe('opened')
  })

  it('that are looser hold from their time on, and not before', async () => {
    const coming = { rules: { perOrder: usdc(10n) }, from: noon }
    await set(nodes, { inForce: { perOrder: usdc(9n) }, coming })
    expect(await nodes().limits.find(payer)).toMatchObject({
      limits: { inForce: { perOrder: 9n }, coming },
    })
    expect(await attempt(nodes, order({ placedAt: later(-1) }))).toBe('per_order')
    expect(await attempt(nodes, order())).toBe('opened')
    expect(await attempt(nodes, order({ amount: usdc(11n) }))).toBe('per_order')
  })

  describe('of a day', () => describeDay(nodes))
  describe('with approvals', () => describeApproved(nodes))
  describe('on record', () => describeRecord(nodes))
}

function describeApproved(nodes: Nodes): void {
  const bought = { payer: payer.toLowerCase(), purchase: 'a card' }
  const decided = { decision: 'APPROVED', now: noon, endsAt: later(hour) } as const

  async function approve(
    approval: { readonly most: bigint; readonly payer?: string },
    id: OrderId,
  ) {
    const { approvals } = nodes()
    const most = usdc(approval.most)
    const kept = await approvals.ask(
      {
        ...{ ...bought, ...approval, most, amount: usdc(1n), endsAt: later(hour) },
        ...{ id: randomUUID(), tokenHash: randomUUID(), bought: 'sealed' as Sealed },
      },
      noon,
    )
    await approvals.decide(kept.tokenHash, decided)
    const { payer } = kept
    expect(await approvals.use({ ...bought, payer, amount: usdc(1n) }, id, noon)).toBe(true)
  }

  it('let through what costs no more than passes alone', async () => {
    await set(nodes, { approveAbove: usdc(10n) })
    expect(await attempt(nodes, order())).toBe('opened')
    expect(await attempt(nodes, order({ amount: usdc(11n) }))).toBe('approve_above')
  })

  it('open the order whose approval was used, and no other', async () => {
    await set(nodes, { approveAbove: usdc(9n) })
    const wanted = order()
    await approve({ most: 10n }, wanted.id)
    expect(await attempt(nodes, order())).toBe('approve_above')
    expect(await attempt(nodes, wanted)).toBe('opened')
  })

  it('hold an approval to its price and to its payer', async () => {
    await set(nodes, { approveAbove: usdc(9n) })
    const [costly, foreign] = [order(), order()]
    await approve({ most: 9n }, costly.id)
    expect(await attempt(nodes, costly)).toBe('approve_above')
    await approve({ most: 10n, payer: `0x${'77'.repeat(20)}` }, foreign.id)
    expect(await attempt(nodes, foreign)).toBe('approve_above')
  })

  it('name what no approval heals first', async () => {
    await set(nodes, { approveAbove: usdc(0n), perDay: usdc(9n) })
    expect(await attempt(nodes, order())).toBe('per_day')
  })
}

function describeDay(nodes: Nodes): void {
  const spent = async (at = noon) => {
    const spends = await nodes().limits.spends(payer, new Date(at.getTime() - 24 * hour))
    return spends.reduce((sum, { amount }) => sum + amount, 0n)
  }

  it('count what was placed in the last 24 hours, to the millisecond', async () => {
    await set(nodes, { perDay: usdc(25n) })
    expect(await attempt(nodes, order())).toBe('opened')
    expect(await attempt(nodes, order({ placedAt: later(hour) }))).toBe('opened')
    expect(await attempt(nodes, order({ placedAt: later(24 * hour - 1) }))).toBe('per_day')
    expect(await spent(later(24 * hour - 1))).toBe(20n)
    expect(await attempt(nodes, order({ placedAt: later(24 * hour) }))).toBe('opened')
    expect(await attempt(nodes, order({ placedAt: later(25 * hour - 1) }))).toBe('per_day')
    expect(await spent(later(25 * hour - 1))).toBe(20n)
  })

  it('count orders of before the limit, and those of nobody else', async () => {
    await attempt(nodes, order())
    const tender = { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` }
    await attempt(nodes, order({ tender, amount: usdc(500n) }))
    await set(nodes, { perDay: usdc(19n) })
    expect(await attempt(nodes, order())).toBe('per_day')
    await set(nodes, { perDay: usdc(20n) })
    expect(await attempt(nodes, order())).toBe('opened')
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
    await set(nodes, { perDay: usdc(15n) })
    await take(nodes, way(order()))
    expect(await spent()).toBe(counted)
    expect(await attempt(nodes, order())).toBe(counted === 0n ? 'opened' : 'per_day')
  })

  it('let exactly as many of many at once through as there is room for, on two nodes', async () => {
    await set(nodes, { perDay: usdc(55n) })
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
}

function describeRecord(nodes: Nodes): void {
  it('leave nothing of an order that they do not allow', async () => {
    await set(nodes, { perOrder: usdc(9n) })
    const refused = order()
    await expect(nodes().store.open(refused, ['k'])).rejects.toThrow(LimitReached)
    expect(await nodes().store.find(refused.id)).toBeUndefined()
    expect(await nodes().store.findByPayment(paymentKeyOf(refused.tender))).toBeUndefined()
    expect(await nodes().store.findByKey(payer, 'k')).toBeUndefined()
    await set(nodes, { perOrder: usdc(10n) })
    expect((await nodes().store.open(refused, ['k'])).isNew).toBe(true)
  })

  it('are not asked about an order that there is already', async () => {
    const first = order()
    await nodes().store.open(first, ['k'])
    await set(nodes, { perDay: usdc(0n) })
    const known = { isNew: false, order: first }
    expect(await nodes().store.open(first, ['k'])).toEqual(known)
    expect(await nodes().other.open(order(), ['j', 'k'])).toEqual(known)
    const went = expectWon(await nodes().store.move(first, paid(first)))
    expect(went.state).toBe('PAID')
  })

  it('give equal requests with one key, and fresh payments, one order, on two nodes', async () => {
    await set(nodes, { perDay: usdc(10n) })
    const opened = await inTurn(nodes(), 16, (node) => node.open(order(), ['one key']))
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(new Set(opened.map((one) => one.order.id)).size).toBe(1)
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
    await set(nodes, limits)
    expect((await nodes().limits.find(payer))?.limits).toStrictEqual(limits)
    await set(nodes, {})
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
    await set(nodes, { inForce: { perDay: usdc(1n) }, coming: { rules: {}, from: noon } })
    const coming = { rules: { perDay: usdc(2n) }, from: noon }
    await set(nodes, { inForce: { perDay: usdc(1n) }, coming }, other)
    expect(await limits.forgetLifted(later(-1))).toBe(0)
    expect(await limits.forgetLifted(noon)).toBe(1)
    expect(await limits.find(payer)).toBeUndefined()
    expect(await limits.find(other)).toBeDefined()
  })
}

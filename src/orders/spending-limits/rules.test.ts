import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxOpenApprovals } from '../../../test/doubles/memory-approvals.ts'
import { kinds } from '../../catalog/offer.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import { hashOf } from '../../secrets/secrets.ts'
import type { Rules, WalletLimits } from '../ports.ts'
import { ada, expectOrder, purchaseWorld, refusalOf } from '../purchase.fixture.ts'
import type { PurchaseRequest } from '../replay.ts'
import {
  applyRules,
  dayMs,
  isAsStrict,
  limitHit,
  noRules,
  roomFrom,
  rulesAt,
  spentOn,
} from './rules.ts'

const noon = new Date('2026-01-05T12:00:00Z')
const hour = 3_600_000
const later = (hours: number) => new Date(noon.getTime() + hours * hour)
const at = (hours: number, coolingHours = 24) => ({
  now: later(hours),
  coolingMs: coolingHours * hour,
})
const perOrder = (amount: bigint): Rules => ({ perOrder: usdc(amount) })

const five = perOrder(5n)
const old = { inForce: five }
const waiting: WalletLimits = { ...old, coming: { rules: perOrder(9n), from: later(24) } }
const many: Rules = { ...five, countries: ['DE', 'US'] }
const tighter: Rules = { ...perOrder(4n), countries: ['DE'], kinds: ['esim'] }
const nine = { ...perOrder(9n), perDay: usdc(1n) }
const coming = (rules: Rules, hours: number, inForce = five) => ({
  inForce,
  coming: { rules, from: later(hours) },
})

test.each<[string, WalletLimits, Rules, ReturnType<typeof at>, WalletLimits]>([
  ['hold at once when there were none', { inForce: noRules }, five, at(0), old],
  ['hold at once where they are tighter', { inForce: many }, tighter, at(0), { inForce: tighter }],
  ['hold at once without a cooling', old, noRules, at(0, 0), { inForce: noRules }],
  ['wait a day with a higher amount', old, perOrder(9n), at(0), coming(perOrder(9n), 24)],
  ['wait a day with a removed limit', old, noRules, at(0), coming(noRules, 24)],
  [
    'wait a day with more values',
    { inForce: { kinds: ['esim'] } },
    { kinds: ['esim', 'topup'] },
    at(0),
    coming({ kinds: ['esim', 'topup'] }, 24, { kinds: ['esim'] }),
  ],
  [
    'allow nothing of other values for a day',
    { inForce: { kinds: ['esim'] } },
    { kinds: ['topup'] },
    at(0),
    coming({ kinds: ['topup'] }, 24, { kinds: [] }),
  ],
  [
    'are no looser than both for a day',
    { inForce: { perOrder: usdc(5n), perDay: usdc(5n) } },
    { perOrder: usdc(4n), perDay: usdc(6n) },
    at(0),
    coming({ perOrder: usdc(4n), perDay: usdc(6n) }, 24, { perOrder: usdc(4n), perDay: usdc(5n) }),
  ],
  ['keep the time of what is coming', waiting, perOrder(9n), at(10), coming(perOrder(9n), 24)],
  ['keep that time for less, too', waiting, perOrder(7n), at(10), coming(perOrder(7n), 24)],
  ['wait anew for more than is coming', waiting, perOrder(10n), at(10), coming(perOrder(10n), 34)],
  ['wait anew to be lifted', waiting, noRules, at(10), coming(noRules, 34)],
  ['take back what is coming at once', waiting, five, at(10), old],
  ['begin from what was coming', waiting, perOrder(8n), at(24), { inForce: perOrder(8n) }],
  ['follow a shorter cooling', waiting, perOrder(9n), at(10, 1), coming(perOrder(9n), 11)],
])('limits that change %s', (_, limits, wanted, when, expected) => {
  expect(applyRules(limits, wanted, when)).toEqual(expected)
})

test('limits that change keep the time of what is coming for another limit beside it', () => {
  expect(applyRules(waiting, nine, at(10)).coming?.from).toEqual(later(24))
  expect(rulesAt(waiting, later(24 - 0.001))).toEqual(five)
  expect(rulesAt(waiting, later(24))).toEqual(perOrder(9n))
})

const anyAmount = fc.option(fc.bigInt(0n, 3n).map(usdc), { nil: undefined })
const anyList = <T extends string>(values: readonly T[]) =>
  fc.option(fc.subarray([...values]), { nil: undefined })
const anyRules: fc.Arbitrary<Rules> = fc.record({
  perOrder: anyAmount,
  perDay: anyAmount,
  kinds: anyList(kinds),
  countries: anyList(['DE', 'US']),
  recipients: anyList(['a', 'b']),
  approveAbove: anyAmount,
})

interface Change {
  readonly at: number
  readonly wanted: Rules
}

/** The rules that a wallet asks for, and at which hour. */
const anyChanges: fc.Arbitrary<readonly Change[]> = fc
  .array(fc.record({ gap: fc.nat(40), wanted: anyRules }), { minLength: 1, maxLength: 6 })
  .map((changes) => {
    let at = 0
    return changes.map(({ gap, wanted }) => {
      at += gap
      return { at, wanted }
    })
  })

/** The limits after each change. */
function limitsAfter(changes: readonly Change[]): readonly WalletLimits[] {
  let limits: WalletLimits = { inForce: noRules }
  return changes.map((change) => {
    limits = applyRules(limits, change.wanted, at(change.at))
    return limits
  })
}

/** The changes that were the latest one at some moment of the 24 hours before this hour. */
function recent(changes: readonly Change[], hour: number): readonly Change[] {
  return changes.filter((change, index) => {
    const until = changes[index + 1]?.at ?? Infinity
    return change.at <= hour && until > hour - 24
  })
}

describe('whatever a wallet wants and when', () => {
  test('nothing is allowed that one of its changes of the last day forbids', () => {
    fc.assert(
      fc.property(anyChanges, fc.nat(300), (changes, hour) => {
        const made = changes.filter((change) => change.at <= hour)
        const limits = limitsAfter(made).at(-1) ?? { inForce: noRules }
        const rules = rulesAt(limits, later(hour))
        for (const { wanted } of recent(changes, hour)) {
          expect(isAsStrict(rules, wanted)).toBe(true)
        }
      }),
      { numRuns: 4_000 },
    )
  })

  test('a change allows at once nothing that was forbidden before, and after a day all that it says', () => {
    fc.assert(
      fc.property(anyChanges, (changes) => {
        const [before = { inForce: noRules }, limits = before] = limitsAfter(changes).slice(-2)
        const last = changes.at(-1) as Change
        if (changes.length > 1) {
          const then = rulesAt(before, later(last.at))
          expect(isAsStrict(rulesAt(limits, later(last.at)), then)).toBe(true)
        }
        expect(rulesAt(limits, later(last.at + 24))).toEqual(last.wanted)
      }),
      { numRuns: 1_000 },
    )
  })

  test('what stricter rules allow, the others allow', () => {
    const anyAsked = fc.record({
      amount: fc.bigInt(0n, 3n).map(usdc),
      kind: fc.constantFrom(...kinds),
      country: fc.constantFrom('DE', 'US', undefined),
      recipients: fc.subarray(['a', 'b']),
      isApproved: fc.boolean(),
    })
    fc.assert(
      fc.property(anyRules, anyRules, anyAsked, fc.bigInt(0n, 3n), (one, other, asked, spent) => {
        const allows = (rules: Rules) => limitHit(rules, asked, usdc(spent)) === undefined
        const both = applyRules({ inForce: one }, other, at(0)).inForce
        expect(allows(both)).toBe(allows(one) && allows(other))
        if (isAsStrict(one, other) && allows(one)) expect(allows(other)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('room in the limit of a day', () => {
  const spends = [
    { amount: usdc(3n), placedAt: later(2) },
    { amount: usdc(5n), placedAt: later(0) },
    { amount: usdc(2n), placedAt: later(1) },
  ]
  const from = (perDay: bigint, amount: bigint) => roomFrom(usdc(perDay), usdc(amount), spends)

  test('comes when the oldest orders are a day old', () => {
    expect(spentOn(spends)).toBe(10n)
    expect(from(10n, 1n)).toEqual(later(24))
    expect(from(10n, 5n)).toEqual(later(24))
    expect(from(10n, 6n)).toEqual(later(25))
    expect(from(10n, 8n)).toEqual(later(26))
    expect(from(10n, 10n)).toEqual(later(26))
    expect(dayMs).toBe(24 * hour)
  })

  test('never comes for more than the limit', () => {
    expect(from(10n, 11n)).toBeUndefined()
    expect(roomFrom(usdc(0n), 1n as Usdc, [])).toBeUndefined()
  })
})

const minute = 60_000
/** The card costs 20 USDC. */
const asked: Partial<PurchaseRequest> = { approveAbove: usdc(19_999_999n) }

async function approve(world: ReturnType<typeof purchaseWorld>, address: unknown) {
  const now = world.deps.now()
  const said = { decision: 'APPROVED', now, endsAt: new Date(now.getTime() + 15 * minute) } as const
  const token = String(address).split('#').at(-1) ?? ''
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

test('a payer who leaves many approvals open is refused the next one until one ends', async () => {
  const world = purchaseWorld()
  const request = (at: number) => ({ ...asked, fields: { ...ada, firstName: `Ada ${at}` } })
  for (let at = 0; at < maxOpenApprovals; at += 1) {
    expect(await refusalOf(world.buy(request(at)))).toMatchObject({ code: 'approval_required' })
  }
  const { history } = world.orders
  expect(await refusalOf(world.buy(request(99)))).toMatchObject({
    code: 'budget_spent',
    message: expect.stringContaining('wait for a person to approve them'),
    details: { charged: 'no', retryAfterSeconds: 900, extra: { budget: 'open_approvals' } },
  })
  expect(history).toEqual([])
  expect(await refusalOf(world.buy(request(0)))).toMatchObject({ code: 'approval_required' })
})

test('an approval is for the maximum that the buyer named', async () => {
  const world = purchaseWorld()
  const request = { ...asked, fields: { ...ada, maxUsdc: 25 } }
  const refusal = await refusalOf(world.buy(request))
  const token = String(refusal.details.extra?.['approvalUrl']).split('#').at(-1) ?? ''
  expect(await world.deps.approvals.find(hashOf(token))).toMatchObject({
    amount: 20_000_000n,
    most: 25_000_000n,
  })
})

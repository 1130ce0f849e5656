import { describe, expect, it } from 'vitest'
import { noBudgets } from '../../../test/doubles/orders.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  newX402Payment,
  paymentFailed,
  pending,
  refunded,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import { budgetRules } from '../../orders/budgets.ts'
import type { Order } from '../../orders/order.ts'
import { type BudgetRules, BudgetSpent, type OrderStore, type Spent } from '../../orders/ports.ts'
import { createOrderStore } from './orders.ts'
import { twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createOrderStore)

const rules = budgetRules({ unpaid_payments: 3, failed_orders: 2 })
const minute = 60_000
const walletOf = (number: number) => `0x${String(number).padStart(40, '0')}`

interface Sent {
  readonly wallet?: number
  readonly client?: string
  readonly receiver?: string
  readonly placedAt?: Date
}

const at = new Date('2026-03-01T10:00:00.123Z')
const later = (minutes: number) => new Date(at.getTime() + minutes * minute)

/** Opens an order under the budgets, and moves it to the state of `to`. */
async function open(
  store: OrderStore,
  { wallet = 1, client, receiver, placedAt = at }: Sent,
  to: (order: ReturnType<typeof pending>) => Order = (order) => order,
  most: BudgetRules = rules,
): Promise<Order> {
  const payment = { ...newX402Payment(), payer: walletOf(wallet) }
  const subjects = { payer: payment.payer, client, receiver }
  const [first, ...rest] = wayTo(to(pending({ payment, placedAt })))
  const opened = await store.open(first as ReturnType<typeof pending>, [], {
    counted: { subjects, rules: most },
  })
  let order = opened.order
  for (const next of rest) order = expectWon(await store.move(order, next))
  return order
}

const notPaid = (order: ReturnType<typeof pending>) => paymentFailed(order)
const notDelivered = ({ payment, placedAt }: ReturnType<typeof pending>) =>
  failed(asked({ payment, placedAt }))
const delivered = ({ payment, placedAt }: ReturnType<typeof pending>) =>
  fulfilled(asked({ payment, placedAt }))

const spentBy = async (act: Promise<unknown>) => {
  const error = await act.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error === undefined || error instanceof BudgetSpent) return error?.spent
  throw error
}

it('lets so many payments of a wallet stand unpaid, sent at once to two nodes, and not one more', async () => {
  const { store, other } = nodes()
  const said = await Promise.all(
    Array.from({ length: 12 }, (_, index) => spentBy(open(index % 2 ? store : other, {}))),
  )
  const refused = said.filter((spent) => spent !== undefined)
  expect(refused).toHaveLength(9)
  for (const spent of refused) {
    const whose = { budget: 'unpaid_payments', whose: 'payer', retryAfterSeconds: 5 }
    expect(spent).toEqual(whose)
  }
  // Another wallet has its own budget.
  expect(await spentBy(open(store, { wallet: 2 }))).toBeUndefined()
})

it('counts payments that failed for an hour, and says when there is room', async () => {
  const { store } = nodes()
  for (const minutes of [0, 10, 20]) await open(store, { placedAt: later(minutes) }, notPaid)
  expect(await spentBy(open(store, { placedAt: later(30) }))).toEqual({
    ...{ budget: 'unpaid_payments', whose: 'payer', retryAfterSeconds: 30 * 60 },
  })
  expect(await store.spentBudget({ payer: walletOf(1) }, rules, later(30))).toMatchObject({
    retryAfterSeconds: 30 * 60,
  })
  expect(await spentBy(open(store, { placedAt: later(60) }))).toBeUndefined()
})

it('counts orders that were paid back, and none that was delivered', async () => {
  const { store } = nodes()
  for (let order = 0; order < 6; order += 1) await open(store, {}, delivered)
  expect(await store.spentBudget({ payer: walletOf(1) }, rules, at)).toBeUndefined()
  await open(store, {}, notDelivered)
  expect(await spentBy(open(store, {}, notDelivered))).toBeUndefined()
  expect(await spentBy(open(store, {}))).toMatchObject({
    ...{ budget: 'failed_orders', whose: 'payer', retryAfterSeconds: 3_600 },
  })
})

it('counts every revert at our expense, of a wallet and of a client', async () => {
  const { store } = nodes()
  const often = (reverts: number) => (order: ReturnType<typeof pending>) => ({
    ...notPaid(order),
    reverts,
  })
  const many = budgetRules({ unpaid_payments: 100, failed_orders: 100 })
  await open(store, { placedAt: later(0), client: 'c' }, often(3), many)
  await open(store, { placedAt: later(10), client: 'c' }, often(2), many)
  const payer = { payer: walletOf(1) }
  expect(await store.spentBudget(payer, many, later(20))).toBeUndefined()
  await open(store, { placedAt: later(20), client: 'c' }, often(1), many)
  expect(await spentBy(open(store, { placedAt: later(30) }, notPaid, many))).toEqual({
    ...{ budget: 'reverts', whose: 'payer', retryAfterSeconds: 30 * 60 },
  })
  expect(await store.spentBudget(payer, many, later(60))).toBeUndefined()
  for (const wallet of [2, 3, 4, 5, 6, 7]) {
    await open(store, { wallet, placedAt: later(20), client: 'c' }, often(3), many)
  }
  expect(
    await store.spentBudget({ payer: walletOf(8), client: 'c' }, many, later(30)),
  ).toMatchObject({ budget: 'reverts', whose: 'client' })
})

it('counts a client over its wallets, four times as many, and a receiver of an offer', async () => {
  const { store } = nodes()
  for (let wallet = 1; wallet <= 12; wallet += 1)
    await open(store, { wallet, client: 'c' }, notPaid)
  expect(await spentBy(open(store, { wallet: 13, client: 'c' }))).toMatchObject({
    ...{ budget: 'unpaid_payments', whose: 'client' },
  })
  expect(await spentBy(open(store, { wallet: 13, client: 'd' }))).toBeUndefined()
  const anHourLater = { wallet: 13, placedAt: later(60) }
  expect(await spentBy(open(store, { ...anHourLater, client: 'c' }))).toBeUndefined()

  for (const wallet of [21, 22]) await open(store, { wallet, receiver: 'r' }, notDelivered)
  expect(await spentBy(open(store, { wallet: 23, receiver: 'r' }))).toMatchObject({
    ...{ budget: 'failed_orders', whose: 'receiver' },
  })
  expect(await spentBy(open(store, { wallet: 23, receiver: 's' }))).toBeUndefined()
  expect(await spentBy(open(store, { ...anHourLater, receiver: 'r' }))).toBeUndefined()
})

it('gives the order of a payment that is sent again, whatever is spent', async () => {
  const { store } = nodes()
  const order = pending({ payment: { ...newX402Payment(), payer: walletOf(1) } })
  const none = budgetRules({ unpaid_payments: 1, failed_orders: 1 })
  const counted = { subjects: { payer: walletOf(1) }, rules: none }
  expect((await store.open(order, ['k'], { counted })).isNew).toBe(true)
  expect((await store.open(order, ['k'], { counted })).isNew).toBe(false)
  const anew = pending({ payment: { ...newX402Payment(), payer: walletOf(1) } })
  const replayed = await store.open(anew, ['k'], { counted })
  expect([replayed.isNew, replayed.order.id]).toEqual([false, order.id])
})

it('keeps so many claims of an order in an hour, and of a client, sent at once to two nodes', async () => {
  const { store, other, pass } = nodes()
  const most = { ...rules, order: { refund_claims: 3 }, client: { refund_claims: 5 } }
  const claim = (order: Order, key: string, node = store, client = 'c') =>
    node.claimRefund(order, { key, bodyHash: 'b', client }, most)
  const first = await open(store, {}, notDelivered)
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
  const said = await Promise.all(
    keys.map((key, index) => claim(first, key, index % 2 ? store : other, `c${index}`)),
  )
  expect(said.filter((use) => use === 'fresh')).toHaveLength(3)
  for (const use of said.filter((one) => one !== 'fresh')) {
    expect(use).toMatchObject({ budget: 'refund_claims', whose: 'order' })
  }
  // A recorded claim is recognised even when the budget is spent.
  const known = keys[said.indexOf('fresh')] ?? ''
  expect(await claim(first, known)).toBe('fresh')
  expect(await claim({ ...first, version: first.version + 1 }, known)).toBe('used')
  expect(await store.claimRefund(first, { key: known, bodyHash: 'c' }, most)).toBe('other_body')

  for (const [wallet, claims] of [
    [2, 3],
    [3, 2],
  ] as const) {
    const one = await open(store, { wallet }, notDelivered)
    for (let key = 0; key < claims; key += 1) expect(await claim(one, `k${key}`)).toBe('fresh')
  }
  const third = await open(store, { wallet: 4 }, notDelivered)
  const spent = await claim(third, 'k0')
  expect(spent).toMatchObject({ budget: 'refund_claims', whose: 'client' })
  const { retryAfterSeconds } = spent as Spent
  expect(retryAfterSeconds).toBeGreaterThan(3_500)
  expect(retryAfterSeconds).toBeLessThanOrEqual(3_600)
  const orders = await Promise.all(
    Array.from({ length: 12 }, (_, index) => open(store, { wallet: 10 + index }, notDelivered)),
  )
  const atOnce = await Promise.all(
    orders.map((order, index) => claim(order, 'k', index % 2 ? store : other, 'of many')),
  )
  expect(atOnce.filter((use) => use === 'fresh')).toHaveLength(5)
  await pass(60 * minute + 1_000)
  expect(await claim(third, 'k0')).toBe('fresh')
  expect(await claim(first, 'another', store, 'd')).toBe('fresh')
})

const dollar = 1_000_000
/** The float at the beginning; shares are relative to it, however much of it was refunded. */
const whole = 500 * dollar
/** A purchase: numbers for its wallet and client, and its price in USDC. */
interface Purchase {
  readonly wallet: number
  readonly client?: number
  readonly value: number
}

type End = 'open' | 'paid back'

/** A store that begins with a float of 500 USDC, from the view of its buyers. */
function shopOf({ store }: { readonly store: OrderStore }) {
  let paidBack = 0

  async function buy(
    { wallet, client = wallet, value }: Purchase,
    end: End = 'open',
    node = store,
  ) {
    const payment = { ...newX402Payment(), payer: `0x${String(wallet).padStart(40, '0')}` }
    const amount = usdc(BigInt(Math.round(value * dollar)))
    const first = pending({ payment, amount })
    const subjects = { payer: payment.payer, client: `${client}` }
    const float = usdc(BigInt(whole - paidBack))
    const risk = { float, amount }
    const early = await node.spentBudget(subjects, noBudgets, first.placedAt, risk)
    const opened = await node
      .open(first, [], { counted: { subjects, rules: noBudgets, float } })
      .catch((error: unknown) => {
        if (error instanceof BudgetSpent) return error.spent
        throw error
      })
    if (!('order' in opened)) return { early, spent: opened }
    let order = opened.order
    const way =
      end === 'open'
        ? []
        : wayTo(failed(asked({ payment, amount, placedAt: first.placedAt }))).slice(1)
    for (const next of way)
      order = expectWon(await node.move(order, { ...next, id: order.id } as Order))
    if (order.state === 'FULFILLMENT_FAILED') {
      expectWon(await node.move(order, refunded(order)))
      paidBack += Number(amount)
    }
    return { early, spent: undefined }
  }
  return { buy }
}

describe('the shares of the float that one buyer may put at risk', () => {
  const sold = { early: undefined, spent: undefined }
  const spent = { budget: 'exposure', whose: 'payer', retryAfterSeconds: 60 }
  const refused = { early: spent, spent }

  it('sells the same once more to whoever was just paid back, while others have orders open', async () => {
    const { buy } = shopOf(nodes())
    for (const wallet of [2, 3]) expect(await buy({ wallet, value: 25 })).toEqual(sold)
    expect(await buy({ wallet: 1, value: 112.5 }, 'paid back')).toEqual(sold)
    expect(await buy({ wallet: 4, value: 112.5 })).toEqual(refused)
    expect(await buy({ wallet: 1, value: 112.5 }, 'paid back')).toEqual(sold)
    expect(await buy({ wallet: 1, value: 10 })).toEqual(refused)
  })

  it('counts what was paid back for an hour, and says when there is room', async () => {
    const { buy } = shopOf(nodes())
    for (const wallet of [1, 2, 3]) await buy({ wallet, client: 1, value: 80 }, 'paid back')
    await nodes().pass(20 * minute)
    const { early, spent } = await buy({ wallet: 4, client: 1, value: 30 })
    expect(early).toMatchObject({ budget: 'exposure', whose: 'client' })
    expect(spent?.retryAfterSeconds).toBeGreaterThan(39 * 60)
    expect(spent?.retryAfterSeconds).toBeLessThanOrEqual(40 * 60)
    expect(await buy({ wallet: 5, client: 5, value: 30 })).toEqual(sold)
    await nodes().pass(41 * minute)
    expect(await buy({ wallet: 4, client: 1, value: 30 })).toEqual(sold)
  })

  it('counts what many wallets at many addresses send at once to two nodes', async () => {
    const { store, other } = nodes()
    const { buy } = shopOf(nodes())
    const all = Array.from({ length: 10 }, (_, index) => index + 1)
    const said = await Promise.all(
      all.map((wallet) => buy({ wallet, value: 60 }, 'open', wallet % 2 ? store : other)),
    )
    expect(said.filter(({ spent }) => spent === undefined)).toHaveLength(4)
  })

  it('leaves a sixteenth to each beyond the half, and an eighth of what is free in the end', async () => {
    const { buy } = shopOf(nodes())
    for (const wallet of [2, 3, 4, 5]) expect(await buy({ wallet, value: 62.5 })).toEqual(sold)
    expect(await buy({ wallet: 6, value: 31.26 })).toEqual(refused)
    for (const wallet of [6, 7, 8, 9, 10]) {
      expect(await buy({ wallet, value: 31.25 })).toEqual(sold)
    }
    expect(await buy({ wallet: 11, value: 11.72 })).toEqual(refused)
    expect(await buy({ wallet: 11, value: 11.71 })).toEqual(sold)
    const byClient = { ...spent, whose: 'client' }
    const again = await buy({ wallet: 12, client: 11, value: 1 })
    expect(again).toEqual({ early: byClient, spent: byClient })
    expect(await buy({ wallet: 12, value: 1 })).toEqual(sold)
  })
})

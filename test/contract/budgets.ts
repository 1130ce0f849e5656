import { expect, it } from 'vitest'
import { type BudgetRules, budgetRules, type Spent } from '../../src/orders/budgets.ts'
import type { Order } from '../../src/orders/order.ts'
import { BudgetSpent, type OrderStore } from '../../src/orders/ports.ts'
import { asked, expectWon, type Nodes, orderOnRecord } from './order-store-nodes.ts'
import {
  failed,
  fulfilled,
  newX402Payment,
  paymentFailed,
  pending,
  wayTo,
} from './sample-orders.ts'

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
  const tender = { ...newX402Payment(), payer: walletOf(wallet) }
  const subjects = { payer: tender.payer, client, receiver }
  const [first, ...rest] = wayTo(to(pending({ tender, placedAt })))
  const opened = await store.open(first as ReturnType<typeof pending>, [], {
    counted: { subjects, rules: most },
  })
  let order = opened.order
  for (const next of rest) order = expectWon(await store.move(order, next))
  return order
}

const notPaid = (order: ReturnType<typeof pending>) => paymentFailed(order)
const notDelivered = ({ tender, placedAt }: ReturnType<typeof pending>) =>
  failed(asked({ tender, placedAt }))
const delivered = ({ tender, placedAt }: ReturnType<typeof pending>) =>
  fulfilled(asked({ tender, placedAt }))

/** The contract of an order store about budgets. */
export function describeBudgets(nodes: Nodes): void {
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

  it('counts and refuses nothing where no budgets are told', async () => {
    const { store } = nodes()
    const subjects = { payer: walletOf(1), client: 'c', receiver: 'r' }
    for (let order = 0; order < 3; order += 1) {
      const tender = { ...newX402Payment(), payer: walletOf(1) }
      await orderOnRecord(store, failed(asked({ tender, placedAt: at })), { subjects })
    }
    for (const [whose, one] of [
      ['receiver', { payer: walletOf(2), receiver: 'r' }],
      ['payer', { payer: walletOf(1) }],
    ] as const) {
      const spent = { budget: 'failed_orders', whose }
      expect(await store.spentBudget(one, rules, at)).toMatchObject(spent)
    }
    const strict = { ...rules, client: { failed_orders: 3 } }
    expect(await store.spentBudget({ payer: walletOf(2), client: 'c' }, strict, at)).toMatchObject({
      budget: 'failed_orders',
      whose: 'client',
    })
  })

  it('gives the order of a payment that is sent again, whatever is spent', async () => {
    const { store } = nodes()
    const order = pending({ tender: { ...newX402Payment(), payer: walletOf(1) } })
    const none = budgetRules({ unpaid_payments: 1, failed_orders: 1 })
    const counted = { subjects: { payer: walletOf(1) }, rules: none }
    expect((await store.open(order, ['k'], { counted })).isNew).toBe(true)
    expect((await store.open(order, ['k'], { counted })).isNew).toBe(false)
    const anew = pending({ tender: { ...newX402Payment(), payer: walletOf(1) } })
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
    expect(await claim(first, keys[said.indexOf('fresh')] ?? '')).toBe('fresh')

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

  it('forgets what was never paid after a day, and nothing else', async () => {
    const { store, other, pass } = nodes()
    const gone = await open(store, {}, notPaid)
    const kept = await Promise.all([
      open(store, { wallet: 2 }),
      open(store, { wallet: 3 }, notDelivered),
      open(store, { wallet: 4 }, delivered),
    ])
    const far = new Date('2100-01-01T00:00:00Z')
    expect(await store.forgetNeverPaid(far)).toBe(0)
    await pass(24 * 60 * minute + minute)
    expect(await store.forgetNeverPaid(new Date(0))).toBe(0)
    const recent = await open(store, { wallet: 5 }, notPaid)
    expect([await store.forgetNeverPaid(far), await other.forgetNeverPaid(far)]).toEqual([1, 0])
    expect(await store.find(gone.id)).toBeUndefined()
    for (const { id } of [...kept, recent]) expect(await store.find(id)).toBeDefined()
  })
}

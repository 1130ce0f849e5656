import fc from 'fast-check'
import { expect, it } from 'vitest'
import { usdc } from '../../src/lib/money.ts'
import type { Order } from '../../src/orders/order.ts'
import { BudgetSpent } from '../../src/orders/ports.ts'
import { noBudgets } from '../doubles/orders.ts'
import { asked, expectWon, type Nodes, type OrderStoreHarness } from './order-store-nodes.ts'
import { failed, fulfilled, newX402Payment, pending, refunded, wayTo } from './sample-orders.ts'

const minute = 60_000
const dollar = 1_000_000
/** The float at the beginning; shares are relative to it, however much of it was refunded. */
const whole = 500 * dollar
/** A purchase: numbers for its wallet and client, and its price in USDC. */
interface Sent {
  readonly wallet: number
  readonly client?: number
  readonly value: number
}

type End = 'open' | 'delivered' | 'paid back'

/** A store that begins with a float of 500 USDC, from the view of its buyers. */
function shopOf({ store }: Pick<OrderStoreHarness, 'store'>) {
  let paidBack = 0
  let atRisk = 0

  async function buy({ wallet, client = wallet, value }: Sent, end: End = 'open', node = store) {
    const tender = { ...newX402Payment(), payer: `0x${String(wallet).padStart(40, '0')}` }
    const amount = usdc(BigInt(Math.round(value * dollar)))
    const first = pending({ tender, amount })
    const subjects = { payer: tender.payer, client: `${client}` }
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
    const ends = { open: undefined, delivered: fulfilled, 'paid back': failed }[end]
    const way = ends
      ? wayTo(ends(asked({ tender, amount, placedAt: first.placedAt }))).slice(1)
      : []
    for (const next of way)
      order = expectWon(await node.move(order, { ...next, id: order.id } as Order))
    if (end !== 'delivered') atRisk += Number(amount)
    if (order.state === 'FULFILLMENT_FAILED') {
      expectWon(await node.move(order, refunded(order)))
      paidBack += Number(amount)
    }
    return { early, spent: undefined }
  }

  /** The largest purchase, a quarter of what is free; USDC. */
  const most = () => (whole - atRisk) / dollar / 4
  return { buy, most }
}

/** The contract of an order store about the shares of the float that one buyer may put at risk. */
export function describeSharesOfFloat(nodes: Nodes): void {
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

  it('locks nobody out by what others are paid back', async () => {
    const { buy } = shopOf(nodes())
    for (let wallet = 2; wallet < 14; wallet += 1) {
      expect(await buy({ wallet, value: wallet < 10 ? 25 : 12.5 }, 'paid back')).toEqual(sold)
    }
    // 250 of 500 USDC were refunded.
    expect(await buy({ wallet: 1, value: 31.25 }, 'paid back')).toEqual(sold)
    expect(await buy({ wallet: 1, value: 31.25 })).toEqual(sold)
  })

  it('sells to thirty buyers of 25 USDC, of whom some are paid back and buy again', async () => {
    const { buy } = shopOf(nodes())
    for (let wallet = 1; wallet <= 30; wallet += 1) {
      const [value, fails] = [25, wallet % 8 === 0]
      if (fails) expect(await buy({ wallet, value }, 'paid back')).toEqual(sold)
      expect(await buy({ wallet, value }, 'delivered')).toEqual(sold)
    }
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

  it('is not paused from fewer than 23 addresses, with however many wallets', async () => {
    await cannotPause(nodes, (few, fresh) => ({ wallet: fresh, client: few }))
  }, 120_000)

  it('is not paused with fewer than 23 wallets, at however many addresses', async () => {
    await cannotPause(nodes, (few, fresh) => ({ wallet: few, client: fresh }))
  }, 120_000)
}

/** Fewer clients, or fewer wallets, cannot pause a store whose cheapest offer is a 500th of its float. */
const minToPause = 23

async function cannotPause(
  nodes: Nodes,
  handsOf: (few: number, fresh: number) => Omit<Sent, 'value'>,
): Promise<void> {
  const purchase = fc.record({
    few: fc.integer({ min: 1, max: minToPause - 1 }),
    parts: fc.constantFrom(1, 1, 2, 5),
    isNew: fc.boolean(),
  })
  const property = fc.asyncProperty(
    fc.array(purchase, { minLength: 40, maxLength: 60 }),
    async (purchases) => {
      const { buy, most } = shopOf(nodes())
      for (const [index, { few, parts, isNew }] of purchases.entries()) {
        await greedy(buy, handsOf(few, isNew ? 100 + index : few), most() / parts)
      }
      // A new buyer can still buy.
      expect((await buy({ wallet: 9_000, value: 1 }, 'delivered')).spent).toBeUndefined()
      expect(most()).toBeGreaterThanOrEqual(1)
      await nodes().pass(61 * minute)
    },
  )
  await fc.assert(property, { numRuns: 1, endOnFailure: true })
}

type Buy = ReturnType<typeof shopOf>['buy']

/** Buys for the largest price that is accepted, and is refunded. */
async function greedy(buy: Buy, hands: Omit<Sent, 'value'>, most: number): Promise<void> {
  for (let value = most; value >= 1; value *= 0.7) {
    if ((await buy({ ...hands, value }, 'paid back')).spent === undefined) return
  }
}

import { expect } from 'vitest'
import { newOrder, orderWorld, type Script } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { Collected } from '../payments/payment.ts'
import { advance } from './advance.ts'
import { type Account, entriesOf, type In, type Order } from './order.ts'

export const minute = 60_000
export const hour = 60 * minute

export const { held: goods, collected: settled } = orderWorld().script
export const unknown = { outcome: 'unknown', reason: '503' } as const
export const dead = { outcome: 'failed', code: 'authorization_expired', reason: 'late' } as const
/** The payment landed in another block than before. */
export const elsewhere = {
  outcome: 'settled',
  receipt: { method: 'x402', transaction: `0x${'e'.repeat(64)}`, block: 9 },
} as const satisfies Collected
export const declined = { placed: { outcome: 'declined', code: 'X', reason: 'x' } } as const
export const working = { held: { outcome: 'pending' } } as const

/** The world of one order, which lives as long as a test lets time pass. */
export function newLife(script: Partial<Script> = {}) {
  const world = orderWorld(script)
  const { deps, orders, clock, calls, reports } = world
  const now = (): Order => {
    const last = orders.history.at(-1)
    if (!last) throw new Error('no order was opened')
    return last
  }
  return {
    ...world,
    now,

    /** Opens the order and carries it as far as the script lets it. */
    async begin(patienceMs = 0, order = newOrder(deps)): Promise<Order> {
      return advance(deps, (await orders.open(order, [])).order, patienceMs)
    },

    /** Begins with an order that was paid this long ago, and whose node died before it went on. */
    async beginPaid(agoMs: number): Promise<Order> {
      const order = newOrder(deps)
      await orders.open(order, [])
      const paidAt = clock.now()
      const paid: In<'PAID'> = {
        ...{ ...order, state: 'PAID', settlement: 'SEEN', paidAt },
        receipt: { method: 'x402', transaction: `0x${'a'.repeat(64)}`, block: 7 },
        deliverBy: new Date(paidAt.getTime() + 10 * minute),
      }
      const { record } = await orders.move(order, paid)
      clock.pass(agoMs)
      return advance(deps, record, 0)
    },

    /** Runs the sweep while that much time passes, with these answers from now on. */
    async live(ms: number, says: Partial<Script> = {}): Promise<Order> {
      Object.assign(world.script, says)
      const step = ms > hour ? minute : 5_000
      for (let passed = 0; passed < ms; passed += step) {
        clock.pass(step)
        await sweep(deps, 10)
      }
      return now()
    },

    times: (call: string) => calls.filter((each) => each === call).length,

    told: () =>
      reports.map((event) => ('reason' in event ? `${event.name} ${event.reason}` : event.name)),

    /** The balances of all ledger entries so far. */
    books(): Partial<Record<Account, bigint>> {
      const sums: Partial<Record<Account, bigint>> = {}
      for (const [index, order] of orders.history.entries()) {
        for (const { account, amount } of entriesOf(orders.history[index - 1], order)) {
          sums[account] = (sums[account] ?? 0n) + amount
        }
      }
      return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
    },
  }
}

const price = 500_000n
const books = {
  nothing: {},
  open: { received: price, open: -price },
  delivered: { received: price, delivered: -price },
  refunded: { received: price, refunded: -price },
}

/** What the outside answers from now on, how long it does so, and the order and the calls then. */
type Scene = readonly [
  says: Partial<Script>,
  ms: number,
  order?: object,
  times?: Readonly<Record<string, number>>,
]

/** A life of an order, scene by scene, with what operators were told and where its money is. */
export interface Play {
  readonly of: string
  readonly scenes: readonly Scene[]
  readonly ends: keyof typeof books
  readonly told?: readonly string[]
  /** The calls of the whole life, in order. */
  readonly calls?: readonly string[]
  /** The order was paid as long before as the first scene lasts; else a request waits so long. */
  readonly isLeft?: boolean
}

/** Plays a life, and expects what it says. */
export async function play({ scenes, ends, told = [], calls, isLeft }: Play): Promise<void> {
  const [[first], ...rest] = scenes as [Scene, ...Scene[]]
  const life = newLife(first)
  const look = ([, , order = {}, times = {}]: Scene) => {
    expect(life.now()).toMatchObject(order)
    expect('delivery' in life.now()).toBe(life.now().state === 'FULFILLED')
    for (const [call, count] of Object.entries(times)) {
      expect([call, life.times(call)]).toEqual([call, count])
    }
  }
  const [opening] = scenes as [Scene]
  await (isLeft ? life.beginPaid(opening[1]) : life.begin(opening[1]))
  look(opening)
  for (const scene of rest) {
    await life.live(scene[1], scene[0])
    look(scene)
  }
  expect(life.told()).toEqual(told)
  expect(life.books()).toEqual(books[ends])
  if (calls) expect(life.calls).toEqual(calls)
}

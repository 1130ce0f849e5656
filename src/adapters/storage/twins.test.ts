import { describe, expect, it, test } from 'vitest'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  newX402Payment,
  paymentFailed,
  pending,
  wanted,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import type { Order } from '../../orders/order.ts'
import { type OrderStore, TwinFound, type Twins } from '../../orders/ports.ts'
import { createOrderStore } from './orders.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createOrderStore)

const at = new Date('2026-03-01T10:00:00.123Z')
const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000)
const payer = `0x${'7'.repeat(40)}`
const once = { digests: ['now'], isAnother: false }

type Pending = ReturnType<typeof pending>

interface Sent {
  readonly twins?: Twins
  readonly placedAt?: Date
  readonly keys?: readonly string[]
  readonly by?: string
}

/** Opens an order with a payment of its own, and moves it to the state of `to`. */
async function open(
  store: OrderStore,
  { twins = once, placedAt = at, keys = [], by = payer }: Sent = {},
  to: (order: Pending) => Order = (order) => order,
): Promise<Order> {
  const payment = { ...newX402Payment(), payer: by }
  const item = { ...wanted.item, kind: 'topup' } as const
  const [first, ...rest] = wayTo(to(pending({ payment, placedAt, item })))
  const counted = { subjects: { payer: by, receiver: twins.receivers?.[0] } }
  const opened = await store.open(first as Pending, keys, { twins, counted })
  let order = opened.order
  for (const next of opened.isNew ? rest : []) order = expectWon(await store.move(order, next))
  return order
}

const twinIn = async (act: Promise<unknown>) => {
  const error = await act.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error === undefined || error instanceof TwinFound) return error?.orders.join(' ')
  throw error
}

const delivered = ({ payment, placedAt, item }: Pending) =>
  fulfilled(asked({ payment, placedAt, item }))

it('opens one of several twins that come to two nodes at once, and names it to the others', async () => {
  const { store, other } = nodes()
  const said = await inTurn({ store, other }, 8, (node) => twinIn(open(node)))
  const { items } = await store.listByPayer(payer, { limit: 9, offset: 0 })
  expect(items).toHaveLength(1)
  expect(said.filter((order) => order === items[0]?.id)).toHaveLength(7)
})

describe('a twin', () => {
  it('is known by the digest under an earlier key of the store', async () => {
    const { store, other } = nodes()
    const { id } = await open(store, { twins: { digests: ['before'], isAnother: false } })
    const twins = { digests: ['now', 'before'], isAnother: false }
    expect(await twinIn(open(other, { twins }))).toBe(id)
  })

  it('is each of ten minutes, the newest first, and none to who insists', async () => {
    const { store } = nodes()
    const first = await open(store, {}, delivered)
    const insisting = { digests: ['now'], isAnother: true }
    const { id } = await open(store, { twins: insisting, placedAt: later(1) }, delivered)
    expect(await twinIn(open(store, { placedAt: later(9.9) }))).toBe(`${id} ${first.id}`)
    expect(await twinIn(open(store, { placedAt: later(10.9) }))).toBe(id)
    expect(await twinIn(open(store, { placedAt: later(11) }))).toBeUndefined()
  })

  it('leads to its order instead where the key is the same', async () => {
    const { store } = nodes()
    const first = await open(store, { keys: ['k'] })
    expect(await open(store, { keys: ['k'] })).toEqual(first)
  })

  test.each([
    ['was never paid', (order: Pending) => paymentFailed(order)],
    ['failed', ({ payment, placedAt }: Pending) => failed(asked({ payment, placedAt }))],
  ])('that %s is none', async (_, to) => {
    const { store } = nodes()
    await open(store, {}, to)
    expect(await twinIn(open(store))).toBeUndefined()
  })
})

describe('a receiver who has just received', () => {
  const receivers = ['line now', 'line before']
  const line = (digest: string, more: Partial<Twins> = {}): Twins => {
    return { digests: [digest], isAnother: true, receivers, ...more }
  }

  it('is known whoever buys and whatever, by the digest under an earlier key; another order is not named', async () => {
    const { store, other } = nodes()
    const { id } = await open(
      store,
      { twins: line('a', { receivers: ['line before'] }) },
      delivered,
    )
    expect(await twinIn(open(other, { twins: line('b'), placedAt: later(1.9) }))).toBe(id)
    const stranger = { by: `0x${'8'.repeat(40)}`, twins: line('c') }
    expect(await twinIn(open(other, { ...stranger, placedAt: later(1.9) }))).toBe('')
    expect(await store.hasJustReceived(receivers, later(1.9))).toBe(true)
    expect(await twinIn(open(other, { ...stranger, placedAt: later(2) }))).toBeUndefined()
    expect(await store.hasJustReceived(receivers, later(4.1))).toBe(false)
  })

  it('is one of two wallets that come at once', async () => {
    const { store, other } = nodes()
    const said = await inTurn({ store, other }, 6, (node, index) =>
      twinIn(open(node, { by: `0x${String(index + 1).repeat(40)}`, twins: line(`d${index}`) })),
    )
    expect(said.filter((order) => order === '')).toHaveLength(5)
  })

  it('is nobody for who insists, nor after what failed', async () => {
    const { store } = nodes()
    const lost = ({ payment, placedAt, item }: Pending) =>
      failed(asked({ payment, placedAt, item }))
    await open(store, { twins: line('a') }, lost)
    expect(await twinIn(open(store, { twins: line('b') }))).toBeUndefined()
    const insisting = { digests: ['c'], isAnother: true }
    expect(await twinIn(open(store, { twins: insisting }))).toBeUndefined()
  })
})

it('finds an order by its key alone, if no other has it', async () => {
  const { store, other } = nodes()
  const order = await open(store, { keys: ['k', 'l'] })
  expect(await other.findOnlyByKey('k')).toEqual(order)
  expect(await store.findOnlyByKey('x')).toBeUndefined()
  await store.open(pending({ payment: { ...newX402Payment(), payer: `0x${'8'.repeat(40)}` } }), [
    'k',
  ])
  expect(await store.findOnlyByKey('k')).toBeUndefined()
  expect(await store.findOnlyByKey('l')).toEqual(order)
})

import { expect, it } from 'vitest'
import type { In, Order } from '../../src/orders/order.ts'
import { asked, expectWon, type Nodes, take } from './order-store-nodes.ts'
import { failed, fulfilled, wayTo } from './sample-orders.ts'

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 10, 1, second))

/** An order that the supplier is known to have accepted. */
function accepted(): In<'FULFILLING'> {
  return { ...asked(), askedAgainAt: at(1), acceptedAt: at(2) }
}

export function describeSupply(nodes: Nodes): void {
  it('keeps what the supplier has accepted through every later move', async () => {
    for (const endOf of [fulfilled, failed]) {
      const order = accepted()
      const { acceptedAt, askedAgainAt } = order
      const stored = await take(nodes, [...wayTo(order), endOf(order)])
      expect(await nodes().other.find(stored.id)).toMatchObject({ acceptedAt, askedAgainAt })
    }
  })

  it.each<[string, (order: In<'FULFILLING'>) => Order]>([
    ['forgets it', ({ acceptedAt: _, ...order }) => order],
    ['says when it was in another way', (order) => ({ ...order, acceptedAt: at(9) })],
    ['forgets it at the end', ({ acceptedAt: _, ...order }) => fulfilled(order)],
    ['asks again', (order) => ({ ...order, askedAgainAt: at(9) })],
    [
      'takes silence for a no',
      (order) => ({
        ...failed(order),
        failure: { trigger: 'upstream_timeout', message: 'Nothing came.' },
      }),
    ],
  ])('refuses a move of an accepted order that %s', async (_, next) => {
    const order = accepted()
    const stored = await take(nodes, wayTo(order))
    await expect(nodes().store.move(stored, next(order))).rejects.toThrow(
      /accepted it|silence is no answer|not asked again/,
    )
    expect(await nodes().other.find(order.id)).toEqual(stored)
  })

  it('lets an order that nobody accepted be asked for again, and be given up', async () => {
    const first = asked()
    const stored = await take(nodes, wayTo(first))
    const again = { ...first, askedAgainAt: at(1) }
    const asking = expectWon(await nodes().store.move(stored, again))
    const failure = { trigger: 'upstream_timeout', message: 'Nothing came.' } as const
    const end: Order = { ...failed(again), failure, supply: { state: 'OPEN' } }
    const given = expectWon(await nodes().store.move(asking, end))
    // The supplier shows it after all; from then on the acceptance cannot be removed.
    const seen = expectWon(await nodes().store.move(given, { ...end, acceptedAt: at(2) }))
    await expect(nodes().store.move(seen, end)).rejects.toThrow('accepted it')
  })
}

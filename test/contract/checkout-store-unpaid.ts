import { expect, it } from 'vitest'
import { TooManyUnpaid, type UnpaidBound } from '../../src/checkouts/ports.ts'
import { type CheckoutNodes, moveOn } from './checkout-store-nodes.ts'
import {
  closed,
  ended,
  invoice,
  opened,
  opening,
  ordered,
  payment,
  refused,
  unitsOfPrice,
} from './sample-checkouts.ts'
import { inTurn } from './two-nodes.ts'

const bound: UnpaidBound = { client: 'a client', most: 2, states: ['OPENING', 'OPEN'] }
const pooled: UnpaidBound = { ...bound, states: ['OPENING', 'OPEN', 'ENDED'] }

/** The contract about how many unpaid checkouts a client may have at once. */
export function describeUnpaid(nodes: CheckoutNodes): void {
  const begin = (limits: UnpaidBound = bound, changes: object = {}) =>
    nodes().store.open(opening(changes), limits)

  /** Opens a checkout with an invoice that counts for the client. */
  async function openFor(limits: UnpaidBound) {
    const first = opening()
    await nodes().store.open(first, limits)
    return moveOn(nodes, first, opened(first))
  }

  it('are so many of a client in a coin, sent at once to two nodes', async () => {
    const all = await inTurn(nodes(), 12, (node) =>
      node.open(opening(), bound).then(
        () => 'opened',
        (error) => error,
      ),
    )
    expect(all.filter((one) => one === 'opened')).toHaveLength(2)
    for (const error of all.filter((one) => one !== 'opened')) {
      expect(error).toBeInstanceOf(TooManyUnpaid)
      expect(error).toMatchObject({ unpaid: 2 })
    }
    await begin({ ...bound, client: 'another' })
    await begin(bound, { coin: 'LTC', network: 'Litecoin' })
    await nodes().store.open(opening())
  })

  it('are not counted again by the form that began one of them', async () => {
    const first = opening()
    await nodes().store.open(first, bound)
    await begin()
    expect(await nodes().other.open(first, bound)).toEqual({ isNew: false, checkout: first })
  })

  it('are those that nobody paid or is paying', async () => {
    const [paid, none] = [await openFor(bound), opening()]
    await nodes().store.open(none, bound)
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    const { id, address } = paid.invoice
    const paying = {
      ...paid,
      invoice: invoice({ ...paid.invoice, id, address, status: 'PROCESSING' }),
    }
    const seen = await moveOn(nodes, paid, paying)
    await begin()
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    await moveOn(nodes, seen, ordered(seen))
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
  })

  it('are those that were refused, for an hour', async () => {
    const none = opening()
    await nodes().store.open(none, bound)
    await begin()
    await nodes().store.move(none, refused(none))
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    await begin({ ...bound, client: 'another' })
    await nodes().pass(3_600_000)
    await begin()
  })

  it('are deleted 90 days after they closed, and what somebody paid never is', async () => {
    const days = (count: number) => count * 86_400_000
    const gone = new Date(Date.now() + days(1_000))
    const unpaid = await openFor(bound)
    const over = await moveOn(nodes, unpaid, closed(ended(unpaid)))
    const none = opening()
    await nodes().store.open(none)
    await nodes().store.move(none, refused(none))
    const open = await openFor({ ...bound, client: 'another' })
    const dust = await openFor({ ...bound, client: 'a third' })
    const kept = await moveOn(nodes, dust, closed(ended(dust, [payment(100n)])))
    const dropped = await openFor({ ...bound, client: 'a fourth' })
    const invalid = payment(unitsOfPrice, { status: 'INVALID' })
    const seen = await moveOn(nodes, dropped, closed(ended(dropped, [invalid])))
    await nodes().pass(days(89))
    expect(await nodes().store.forgetNeverPaid(gone)).toBe(0)
    await nodes().pass(days(2))
    expect(await nodes().store.forgetNeverPaid(new Date(0))).toBe(0)
    expect(await nodes().store.forgetNeverPaid(gone)).toBe(2)
    const left = [over, none, open, kept, seen].map(({ id }) => nodes().store.find(id))
    expect(await Promise.all(left)).toEqual([undefined, undefined, open, kept, seen])
  })

  it('are counted until their addresses are free where they come from a pool', async () => {
    const [one, two] = [await openFor(pooled), await openFor(pooled)]
    const over = await moveOn(nodes, one, ended(one))
    await expect(begin(pooled)).rejects.toThrow(TooManyUnpaid)
    await moveOn(nodes, over, closed(over))
    await begin(pooled)
    await moveOn(nodes, two, ended(two))
    await begin(bound)
  })
}

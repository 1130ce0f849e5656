import { expect, it } from 'vitest'
import {
  type Checkout,
  type CheckoutIn,
  type CheckoutState,
  checkoutMoves,
  type InvoicedCheckout,
  type Return,
  returnReference,
} from '../../src/checkouts/checkout.ts'
import type { PayoutState } from '../../src/orders/payout.ts'
import { returnMoves } from '../doubles/checkout-rules.ts'
import { newOrderId } from '../doubles/ids.ts'
import {
  type CheckoutNodes,
  moveOn,
  onRecord,
  openOnRecord,
  placedOnRecord,
  takeCheckout,
} from './checkout-store-nodes.ts'
import {
  closed,
  ended,
  invoice,
  opened,
  opening,
  ordered,
  orderOf,
  payment,
  refused,
  returning,
  stepping,
  unitsOfPrice,
} from './sample-checkouts.ts'

const states = Object.keys(checkoutMoves) as CheckoutState[]
const steps = Object.keys(returnMoves) as PayoutState[]

/** The moves that a checkout store must refuse, whatever its callers do. */
export function describeCheckoutRules(nodes: CheckoutNodes): void {
  const refuses = async (from: Checkout, to: Checkout, reason: string | RegExp) => {
    await expect(nodes().store.move(from, to)).rejects.toThrow(reason)
    expect(await nodes().store.find(from.id)).toEqual(from)
  }

  describeLife(nodes)
  describeMoney(nodes, refuses)
  describeReturns(nodes, refuses)

  it('never changes what was wanted, nor the invoice', async () => {
    const open = await openOnRecord(nodes)
    await refuses(open, { ...open, orderId: newOrderId() }, 'what was wanted never changes')
    await refuses(open, { ...open, coin: 'XMR' }, 'what was wanted never changes')
    await refuses(open, { ...open, formKeyHash: 'x' }, 'what was wanted never changes')
    const dearer = { ...open.invoice, units: unitsOfPrice + 1n }
    await refuses(open, { ...open, invoice: dearer }, 'its invoice never changes')
    await refuses(open, { ...open, invoice: invoice() }, 'its invoice never changes')
  })

  it('gives one invoice to one checkout', async () => {
    const open = await openOnRecord(nodes)
    const first = opening()
    await nodes().store.open(first)
    await refuses(first, opened(first, { id: open.invoice.id }), 'invoice_id')
  })

  it('leaves an address to the checkout that it was shown for, until that is closed', async () => {
    const open = await openOnRecord(nodes)
    const { address } = open.invoice
    const [one, two] = [opening(), opening()]
    for (const each of [one, two]) await nodes().store.open(each)
    await refuses(one, opened(one, { address }), 'held_address')
    await refuses(one, opened(one, { address: address.toUpperCase() }), 'held_address')
    expect(await nodes().other.holderOf('BTC', address.toUpperCase())).toEqual(open)
    expect(await nodes().other.holderOf('LTC', address)).toBeUndefined()

    const over = await moveOn(nodes, open, ended(open))
    await refuses(one, opened(one, { address }), 'held_address')
    await moveOn(nodes, over, closed(over))
    expect(await nodes().store.holderOf('BTC', address)).toBeUndefined()
    const moved = await Promise.allSettled([
      nodes().store.move(one, opened(one, { address })),
      nodes().other.move(two, opened(two, { address })),
    ])
    expect(moved.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('gives an address of one coin to a checkout in another', async () => {
    const { invoice } = await openOnRecord(nodes)
    const first = opening({ coin: 'LTC' })
    await nodes().store.open(first)
    const same = opened(first, { address: invoice.address })
    expect(await nodes().store.move(first, same)).toMatchObject({ won: true })
  })

  it('closes for good', async () => {
    const open = await openOnRecord(nodes)
    const over = await moveOn(nodes, open, closed(ended(open)))
    await refuses(over, ended(open), 'closed, for good')
    await refuses(over, over, 'closed, for good')
  })

  it('does not close before it is decided, nor without the order that was paid', async () => {
    const open = await openOnRecord(nodes)
    await refuses(open, closed(open), 'nothing is decided yet')
    const paid = await moveOn(nodes, open, ordered(open))
    await refuses(paid, closed(paid), 'its order was not placed')
  })

  it('is placed only when its order is on record, and then for good', async () => {
    const open = await openOnRecord(nodes)
    const paid = await moveOn(nodes, open, ordered(open))
    await refuses(paid, { ...paid, isPlaced: true }, 'order is not on record')
    await nodes().orders.open(orderOf(paid), [])
    const placed = await moveOn(nodes, paid, { ...paid, isPlaced: true })
    await refuses(placed, { ...placed, isPlaced: false }, 'placed, for good')
  })
}

/** The checkouts on the way from opening to this state. */
function wayTo(state: CheckoutState): readonly Checkout[] {
  const first = opening()
  const open = opened(first)
  const ways: Record<CheckoutState, readonly Checkout[]> = {
    OPENING: [first],
    REFUSED: [first, refused(first)],
    OPEN: [first, open],
    ORDERED: [first, open, ordered(open)],
    ENDED: [first, open, ended(open)],
  }
  return ways[state]
}

function describeLife(nodes: CheckoutNodes): void {
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))

  it.each(pairs)('lets %s become %s only along the moves of a checkout', async (from, to) => {
    const stored = await takeCheckout(nodes, wayTo(from))
    const target = asIf(stored, wayTo(to).at(-1) as Checkout)
    const moved = nodes().store.move(stored, target)
    const moves: readonly CheckoutState[] = checkoutMoves[from]
    if (moves.includes(to) || (from === to && from !== 'REFUSED')) {
      expect((await moved).won).toBe(true)
    } else {
      await expect(moved).rejects.toThrow(/cannot follow|closed, for good/)
      expect(await nodes().store.find(stored.id)).toEqual(stored)
    }
  })
}

/** The other checkout as a later version of this one. */
function asIf(stored: Checkout, other: Checkout): Checkout {
  const { id, orderId, formKeyHash } = stored
  const named = { ...other, id, orderId, formKeyHash }
  if (!('invoice' in stored) || !('invoice' in named)) return named
  return { ...named, invoice: { ...named.invoice, id: stored.invoice.id } }
}

type Refuses = (from: Checkout, to: Checkout, reason: string | RegExp) => Promise<void>

function describeMoney(nodes: CheckoutNodes, refuses: Refuses): void {
  it('decides the price once', async () => {
    const open = await openOnRecord(nodes)
    const paid = await moveOn(nodes, open, ordered(open, [payment(unitsOfPrice - 1n)]))
    expect(paid.price).toBe(unitsOfPrice - 1n)
    await refuses(paid, { ...paid, price: unitsOfPrice - 2n }, 'price was decided, for good')
    const payments = [...paid.invoice.payments, payment(1n)]
    const more = { ...paid, invoice: { ...paid.invoice, payments } }
    await refuses(paid, { ...more, price: unitsOfPrice }, 'price was decided, for good')
    expect((await moveOn(nodes, paid, more)).price).toBe(unitsOfPrice - 1n)
  })

  it('has a price that came, and that is no more than that of its invoice', async () => {
    const open = await openOnRecord(nodes)
    const paid = ordered(open, [payment(unitsOfPrice - 5n), payment(10n, { status: 'PROCESSING' })])
    await refuses(open, { ...paid, price: unitsOfPrice }, 'price is more than came')
    await refuses(open, { ...paid, price: 0n }, 'not that of its invoice')
    const surplus = ordered(open, [payment(unitsOfPrice + 5n)])
    await refuses(open, { ...surplus, price: unitsOfPrice + 1n }, 'not that of its invoice')
  })

  it('never gives back more than came beside the price', async () => {
    const open = await openOnRecord(nodes)
    const paid = ordered(open, [
      payment(unitsOfPrice),
      payment(70n),
      payment(9n, { status: 'INVALID' }),
    ])
    await refuses(open, returning(paid, 71n), 'more goes back than came')
    const due = await moveOn(nodes, open, returning(paid, 50n))
    await refuses(due, returning(due, 21n), 'more goes back than came')
    const both = await moveOn(nodes, due, returning(due, 20n))
    const gone = { ...both.invoice, payments: both.invoice.payments.slice(0, 1) }
    await refuses(both, { ...both, invoice: gone }, 'more goes back than came')
  })

  it('never gives back what may still be the price', async () => {
    const open = await openOnRecord(nodes)
    const part = await moveOn(nodes, open, {
      ...open,
      invoice: { ...open.invoice, payments: [payment(70n)] },
    })
    await refuses(part, returning(part, 70n), 'before it is decided')
  })

  it('keeps no more than dust when it closes', async () => {
    const open = await openOnRecord(nodes)
    // Here 1,000 satoshi are worth 1 USDC, and at most 0.50 USDC may be kept.
    const rich = await moveOn(nodes, open, ended(open, [payment(501n)]))
    await refuses(rich, closed(rich), 'more than dust')
    const other = await openOnRecord(nodes)
    const poor = await moveOn(nodes, other, ended(other, [payment(500n)]))
    expect((await nodes().store.move(poor, closed(poor))).won).toBe(true)
  })
}

function describeReturns(nodes: CheckoutNodes, refuses: Refuses): void {
  /** Puts a return of 70 units on record at this step, with a grant if the step needs one. */
  const returnAt = async (step: PayoutState): Promise<CheckoutIn<'ENDED'>> => {
    const open = await openOnRecord(nodes)
    const due = await moveOn(nodes, open, returning(ended(open, [payment(100n)]), 70n))
    if (step === 'DUE') return due
    if (step === 'FAILED') return moveOn(nodes, due, stepping(due, 'FAILED'))
    expect(await nodes().payoutLimits.allow(returnReference(due.id, 1))).toBe('granted')
    const sending = await moveOn(nodes, due, stepping(due, 'APPROVED'))
    return step === 'APPROVED' ? sending : moveOn(nodes, sending, stepping(sending, 'CONFIRMED'))
  }
  const pairs = steps.flatMap((from) => steps.map((to) => [from, to] as const))

  it.each(pairs)('lets a return that is %s become %s only along its moves', async (from, to) => {
    const stored = await returnAt(from)
    if (from === 'DUE' || from === 'FAILED') await grantAnyway(nodes, stored)
    const now = await latest(nodes, stored)
    const moves: readonly string[] = returnMoves[from]
    const moved = nodes().store.move(now, stepping(now, to))
    if (from === to || moves.includes(to)) expect((await moved).won).toBe(true)
    else await expect(moved).rejects.toThrow('cannot become this one')
  })

  it('is not sent without a grant', async () => {
    const due = await returnAt('DUE')
    await refuses(due, stepping(due, 'APPROVED'), 'return 1 was not granted')
    await nodes().payoutLimits.allow(returnReference(due.id, 1))
    const sending = await moveOn(nodes, due, stepping(due, 'APPROVED'))
    const two = await moveOn(nodes, sending, returning(sending, 30n))
    await refuses(two, stepping(two, 'APPROVED'), 'return 2 was not granted')
    const begun = stepping(returning(sending, 30n), 'CONFIRMED')
    await expect(nodes().store.move(two, begun)).rejects.toThrow(/not granted|cannot become/)
  })

  it('never changes, and is never dropped', async () => {
    const sent = await returnAt('CONFIRMED')
    const change = (changes: Partial<Return>): InvoicedCheckout => ({
      ...sent,
      returns: sent.returns.map((one) => ({ ...one, ...changes })),
    })
    await refuses(sent, change({ units: 69n }), 'cannot become this one')
    await refuses(sent, change({ why: 'late' }), 'cannot become this one')
    await refuses(sent, { ...sent, returns: [] }, 'cannot become this one')
    const payout = { state: 'CONFIRMED', transaction: 'another', confirmedAt: new Date() } as const
    await refuses(sent, change({ payout }), 'cannot become this one')
    await refuses(sent, change({ seq: 2 }), /count from 1|cannot become this one/)
    const first = opening()
    const open = await onRecord(nodes, first, opened(first))
    const strange = returning(ended(open, [payment(9n)]), 9n)
    const returns = strange.returns.map((one) => ({ ...one, seq: 3 }))
    await refuses(open, { ...strange, returns }, 'count from 1')
  })

  it.each(['DUE', 'APPROVED', 'FAILED'] as const)(
    'does not close while one is %s',
    async (step) => {
      const stored = await returnAt(step)
      await refuses(stored, closed(stored), 'something still goes back')
    },
  )

  it('goes back from what became an order too', async () => {
    const placed = await placedOnRecord(nodes)
    const payments = [...placed.invoice.payments, payment(500n)]
    const twice = { ...placed, invoice: { ...placed.invoice, payments } }
    const due = await moveOn(nodes, placed, returning(twice, 500n))
    expect(await nodes().payoutLimits.allow(returnReference(due.id, 1))).toBe('granted')
    const sending = await moveOn(nodes, due, stepping(due, 'APPROVED'))
    const sent = await moveOn(nodes, sending, stepping(sending, 'CONFIRMED'))
    expect((await nodes().store.move(sent, closed(sent))).won).toBe(true)
  })
}

/** Grants a return that is due or failed; a failed one is made due meanwhile. */
async function grantAnyway(nodes: CheckoutNodes, stored: CheckoutIn<'ENDED'>): Promise<void> {
  const isFailed = stored.returns[0]?.payout.state === 'FAILED'
  const due = isFailed ? await moveOn(nodes, stored, stepping(stored, 'DUE')) : stored
  expect(await nodes().payoutLimits.allow(returnReference(due.id, 1))).toBe('granted')
  if (isFailed) await moveOn(nodes, due, stepping(due, 'FAILED'))
}

async function latest(nodes: CheckoutNodes, { id }: Checkout): Promise<InvoicedCheckout> {
  return (await nodes().store.find(id)) as InvoicedCheckout
}

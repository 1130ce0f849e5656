import { describe, expect, test } from 'vitest'
import { fixed } from '../../test/fixtures/offers.ts'
import { Refusal } from '../lib/refusal.ts'
import type { X402Payment } from '../payments/payment.ts'
import { authorizedAs } from '../payments/payments.fixture.ts'
import {
  card,
  expectOrder,
  expectPaymentRequired,
  purchaseWorld,
  refusalOf,
} from './purchase.fixture.ts'

const address = 'a'.repeat(64)
const stranger = `0x${'77'.repeat(20)}`
const used = { code: 'quote_used', details: { charged: 'no' } }

/** A store and an address of it that holds one purchase. */
async function sealedWorld() {
  const world = purchaseWorld()
  const [terms] = expectPaymentRequired(await world.ask()).accepts
  const sealed = { address, promise: String(terms.extra['quote']) }
  return { ...world, terms, sealed }
}

describe('an address that holds a purchase', () => {
  test('buys once for two wallets at once: the other one is told so before any money moves', async () => {
    const { deps, orders, ask, pay, sealed, calls } = await sealedWorld()
    const payment = await pay({ sealed })
    const other = authorizedAs(await pay({ sealed }), { from: stranger })
    const { check } = deps.methods.x402
    let hasWon = false
    Object.assign(deps.methods.x402, {
      check: async (shown: X402Payment) => {
        if (hasWon) return check(shown)
        hasWon = true
        expectOrder(await ask({ sealed, payment }))
        return check(shown)
      },
    })
    expect(await refusalOf(ask({ sealed, payment: other }))).toMatchObject(used)
    expect(orders.current()).toHaveLength(1)
    expect(calls.filter((call) => call === 'collect')).toHaveLength(1)
  })

  test('that was paid asks nobody for money, also whoever signs anew', async () => {
    const { orders, ask, pay, sealed } = await sealedWorld()
    const second = await pay({ sealed })
    const { order } = expectOrder(await ask({ sealed, payment: await pay({ sealed }) }))
    const wanted = { ...used, details: { charged: 'no', extra: { orderId: order.id } } }
    expect(await refusalOf(ask({ sealed }))).toMatchObject(wanted)
    expect(await refusalOf(ask({ sealed, payment: second }))).toMatchObject(wanted)
    expect(orders.current()).toHaveLength(1)
  })

  test('shows the goods to the wallet that paid, and to nobody who only has the address', async () => {
    const { ask, pay, sealed } = await sealedWorld()
    const payment = await pay({ sealed })
    const { order } = expectOrder(await ask({ sealed, payment }))
    const lost = expectOrder(await ask({ sealed, payment }))
    expect(lost).toMatchObject({ order: { id: order.id }, replayed: true, reveal: false })
    const signedIn = async () => order.payment.payer
    const anew = await ask({ sealed, payment: await pay(), signedIn })
    expect(anew).toMatchObject({ order: { id: order.id }, replayed: true, reveal: 'wallet' })
  })

  test('can be paid again after a payment that is proven to have moved nothing', async () => {
    const { ask, pay, sealed, script } = await sealedWorld()
    const { collected } = script
    script.collected = { outcome: 'failed', code: 'authorization_used', reason: 'gone' }
    expectPaymentRequired(await ask({ sealed, payment: await pay({ sealed }) }))
    script.collected = collected
    expectOrder(await ask({ sealed, payment: await pay({ sealed }) }))
  })

  test('keeps its price while the quote holds, whatever the client echoes', async () => {
    const { ask, putOnSale, terms, sealed, pay } = await sealedWorld()
    const payment = await pay({ sealed })
    putOnSale({ ...card, price: fixed(9_000) })
    const [asked] = expectPaymentRequired(await ask({ sealed })).accepts
    expect(asked).toEqual(terms)
    const { quote: _, ...extra } = payment.accepted.extra
    const bare = { ...payment, accepted: { ...payment.accepted, extra } }
    expectOrder(await ask({ sealed, payment: bare }))
  })

  test('that has ended takes no payment, and still finds the order of one that came in time', async () => {
    const { orders, ask, pay, sealed } = await sealedWorld()
    const late = await pay({ sealed })
    const payment = await pay({ sealed })
    const { order } = expectOrder(await ask({ sealed, payment }))
    const heldUp = new Refusal('quote_expired', 'It has ended.')
    const found = expectOrder(await ask({ sealed, payment, heldUp }))
    expect(found.order.id).toBe(order.id)
    const other = { ...sealed, address: 'b'.repeat(64) }
    const refused = await refusalOf(ask({ sealed: other, payment: late, heldUp }))
    expect(refused).toMatchObject({ code: 'quote_expired', details: { charged: 'no' } })
    expect(orders.current()).toHaveLength(1)
  })
})

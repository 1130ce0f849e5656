import { expect, test } from 'vitest'
import { manneredNetwork } from '../../test/crash-points/sending.ts'
import { noInvoices } from '../../test/doubles/memory-payouts.ts'
import type { Script } from '../../test/doubles/orders.ts'
import { modelChain } from '../../test/model/chain.ts'
import { modelClock } from '../../test/model/clock.ts'
import { modelRail, refundWallet } from '../../test/model/rail.ts'
import { advance } from '../orders/advance.ts'
import type { Order } from '../orders/order.ts'
import {
  ada,
  expectOrder,
  expectPaymentRequired,
  purchaseWorld,
  refusalOf,
} from '../orders/purchase.fixture.ts'
import { railOfNetworks } from './chains.ts'
import { networks } from './networks.ts'
import { fixturePayee, fixturePayer, paymentFor } from './payments.fixture.ts'
import type { Payee } from './terms.ts'

const { base, 'base-sepolia': sepolia } = networks
const payees: readonly [Payee, Payee] = [
  fixturePayee,
  { network: base, payTo: `0x${'7'.repeat(40)}` },
]

/** A chain with money for the buyer and for refunds, which records what was paid there. */
function chainAt(now: Date) {
  const clock = modelClock(now)
  const chain = modelChain(clock)
  chain.fund(fixturePayer, 10n ** 9n)
  chain.fund(refundWallet, 10n ** 9n)
  const witness = { collecting: () => {}, signing: () => {}, payingBack: () => {} }
  const network = manneredNetwork({ clock, chain, payment: 'pays', refund: 'prompt' })
  const rail = modelRail({ chain, network, witness })
  const paid = () => chain.transfers.map(({ from, to }) => [from, to])
  return { clock, rail, paid }
}

/** A store that is paid on two chains. */
function storeOfTwo(changes: Partial<Script> = {}) {
  const { clock } = purchaseWorld()
  const chains: Record<string, ReturnType<typeof chainAt>> = {
    [sepolia.id]: chainAt(clock.now()),
    [base.id]: chainAt(clock.now()),
  }
  const rails = new Map(Object.entries(chains).map(([id, { rail }]) => [id, rail]))
  const btcpay = noInvoices
  const world = purchaseWorld(changes, { payees, rails: { x402: railOfNetworks(rails), btcpay } })
  const accepts = async () => expectPaymentRequired(await world.ask()).accepts
  let signed = 0
  async function sign(network: string) {
    const terms = (await accepts()).find((one) => one.network === network)
    if (!terms) throw new Error(`${network} is not accepted`)
    signed += 1
    const nonce = `0x${String(signed).padStart(64, '0')}`
    return paymentFor(terms, world.deps.now(), { nonce })
  }
  async function goOn(order: Order, ms: number): Promise<Order> {
    world.clock.pass(ms)
    for (const { clock } of Object.values(chains)) clock.pass(ms)
    return advance(world.deps, (await world.orders.find(order.id)) ?? order, 0)
  }
  const paidOn = (network: string) => chains[network]?.paid() ?? []
  return { ...world, rails, accepts, sign, goOn, paidOn }
}

const at = (payee: Payee) => [fixturePayer, payee.payTo]
const back = [refundWallet, fixturePayer]
const minute = 60_000

test('the terms name every network that the store accepts, at one price', async () => {
  const all = await storeOfTwo().accepts()
  expect(all.map(({ network, payTo, asset }) => [network, payTo, asset])).toEqual([
    [sepolia.id, payees[0].payTo, sepolia.usdc],
    [base.id, payees[1].payTo, base.usdc],
  ])
  expect(new Set(all.map(({ amount }) => amount)).size).toBe(1)
})

test.each([
  [sepolia.id, payees[0], base.id],
  [base.id, payees[1], sepolia.id],
])(
  'an order that is paid on %s is collected and paid back there alone',
  async (id, payee, other) => {
    const sold = storeOfTwo()
    const { order } = expectOrder(await sold.ask({ payment: await sold.sign(id) }))
    expect(order).toMatchObject({ state: 'FULFILLED', tender: { network: id, payTo: payee.payTo } })
    expect([sold.paidOn(id), sold.paidOn(other)]).toEqual([[at(payee)], []])

    const declined = { outcome: 'declined', code: 'NO', reason: 'no' } as const
    const { sign, ask, goOn, paidOn } = storeOfTwo({ placed: declined })
    let given = expectOrder(await ask({ payment: await sign(id) })).order
    for (let passed = 0; passed < 60; passed += 1) given = await goOn(given, minute)
    expect(given).toMatchObject({ payout: { state: 'CONFIRMED' } })
    expect([paidOn(id), paidOn(other)]).toEqual([[at(payee), back], []])
  },
)

test('a payment to the address of another network is none', async () => {
  const { sign, ask, paidOn } = storeOfTwo()
  const payment = await sign(base.id)
  const disguised = { ...payment, accepted: { ...payment.accepted, network: sepolia.id } }
  const { fault } = expectPaymentRequired(await ask({ payment: disguised }))
  expect(fault?.code).toBe('payment_mismatch')
  expect([paidOn(base.id), paidOn(sepolia.id)]).toEqual([[], []])
})

test('a payment whose network is not connected takes no money, and its refund waits', async () => {
  const { rails, sign, ask, deps, paidOn } = storeOfTwo()
  const payment = await sign(base.id)
  const { order } = expectOrder(await ask({ payment, fields: ada }))
  const { tender } = order
  if (tender.rail !== 'x402') throw new Error(tender.rail)
  rails.delete(base.id)
  expect((await refusalOf(ask({ payment: { ...payment, ...(await sign(base.id)) } }))).code).toBe(
    'try_again',
  )
  const refund = {
    ...({ rail: 'x402', network: base.id, from: refundWallet, to: fixturePayer } as const),
    ...{ amount: tender.amount, nonce: '0x1', validBefore: 0, signature: '0x', sinceBlock: 0 },
  }
  expect(await deps.rails.x402.payBack(refund)).toMatchObject({ outcome: 'pending' })
  expect([paidOn(base.id), paidOn(sepolia.id)]).toEqual([[at(payees[1])], []])
})

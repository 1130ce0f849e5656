import { expect, test } from 'vitest'
import { orderWorld, tenderOf } from '../../test/doubles/orders.ts'
import {
  expectOrder,
  expectPaymentRequired,
  purchaseWorld,
  refusalOf,
} from '../orders/purchase.fixture.ts'
import { networks } from './networks.ts'
import { fixturePayee, paymentFor } from './payments.fixture.ts'
import { type Rail, railOfNetworks } from './ports.ts'
import type { Payee } from './terms.ts'

const { base, 'base-sepolia': sepolia } = networks
const payees: readonly [Payee, Payee] = [
  fixturePayee,
  { network: base, payTo: `0x${'7'.repeat(40)}` },
]
const receipt = { rail: 'x402', transaction: '0x1', block: 7 } as const

/** The rails of two networks, which record what they are asked. */
function twoChains() {
  const worlds: Record<string, ReturnType<typeof orderWorld>> = {
    [sepolia.id]: orderWorld(),
    [base.id]: orderWorld(),
  }
  const rails = new Map<string, Rail>(
    Object.entries(worlds).map(([id, { deps }]) => [id, deps.rails.x402]),
  )
  const callsTo = (id: string) => worlds[id]?.calls ?? []
  return { rails, rail: railOfNetworks(rails), callsTo }
}

/** A store that is paid on two networks. */
function storeOfTwo() {
  const { rails, rail, callsTo } = twoChains()
  const { deps, ask } = purchaseWorld({}, { payees })
  Object.assign(deps.rails, { x402: rail })
  const accepts = async () => expectPaymentRequired(await ask()).accepts
  async function sign(network: string) {
    const terms = (await accepts()).find((one) => one.network === network)
    if (!terms) throw new Error(`${network} is not accepted`)
    return paymentFor(terms, deps.now())
  }
  return { rails, callsTo, ask, accepts, sign }
}

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
])('what is paid on %s is collected and paid back there alone', async (id, { payTo }, other) => {
  const { ask, callsTo, sign } = storeOfTwo()
  const { order } = expectOrder(await ask({ payment: await sign(id) }))
  expect(order).toMatchObject({ state: 'FULFILLED', tender: { network: id, payTo } })
  expect([callsTo(id), callsTo(other)]).toEqual([['check', 'collect'], []])

  const chains = twoChains()
  const tender = tenderOf({ network: id })
  await chains.rail.confirmationOf(tender, receipt)
  const signed = await chains.rail.signRefund({ reference: 'ord', tender, since: receipt })
  await chains.rail.payBack({ ...signed, network: id })
  expect(chains.callsTo(id)).toEqual(['confirmation', 'sign', 'payBack'])
  expect(chains.callsTo(other)).toEqual([])
})

test('a payment to the address of another network is none', async () => {
  const { ask, callsTo, sign } = storeOfTwo()
  const payment = await sign(base.id)
  const disguised = { ...payment, accepted: { ...payment.accepted, network: sepolia.id } }
  const { fault } = expectPaymentRequired(await ask({ payment: disguised }))
  expect(fault?.code).toBe('payment_mismatch')
  expect([callsTo(base.id), callsTo(sepolia.id)]).toEqual([[], []])
})

test('a network that is not connected takes no money, signs nothing, and its refunds wait', async () => {
  const { ask, rails, sign } = storeOfTwo()
  const payment = await sign(base.id)
  rails.delete(base.id)
  expect((await refusalOf(ask({ payment }))).code).toBe('try_again')
  const { rail } = twoChains()
  const tender = tenderOf({ network: 'eip155:1' })
  const due = { reference: 'ord', tender, since: receipt }
  await expect(rail.signRefund(due)).rejects.toThrow('eip155:1 is not connected')
  expect(await rail.isUnused(tender)).toBe(false)
  expect(await rail.isSignedByPayer(tender)).toBe(false)
  expect(await rail.check(tender)).toMatchObject({ outcome: 'unknown', charged: 'unknown' })
  expect(await rail.collect(tender)).toMatchObject({ outcome: 'unknown' })
  expect(await rail.confirmationOf(tender, receipt)).toBe('unknown')
  const signed = await orderWorld().deps.rails.x402.signRefund(due)
  const refund = { ...signed, network: tender.network }
  expect(await rail.payBack(refund)).toMatchObject({ outcome: 'pending' })
})

import { expect, test } from 'vitest'
import { orderWorld, paymentOf } from '../../test/doubles/orders.ts'
import {
  expectOrder,
  expectPaymentRequired,
  purchaseWorld,
  refusalOf,
} from '../orders/purchase.fixture.ts'
import { networks } from './networks.ts'
import { methodOfNetworks, type X402Method } from './payment.ts'
import { fixturePayee, paymentFor } from './payments.fixture.ts'
import type { Payee } from './terms.ts'

const { base, 'base-sepolia': sepolia } = networks
const payees: readonly [Payee, Payee] = [
  fixturePayee,
  { network: base, payTo: `0x${'7'.repeat(40)}` },
]
const receipt = { method: 'x402', transaction: '0x1', block: 7 } as const

/** The methods of two networks, which record what they are asked. */
function twoChains() {
  const worlds: Record<string, ReturnType<typeof orderWorld>> = {
    [sepolia.id]: orderWorld(),
    [base.id]: orderWorld(),
  }
  const methods = new Map<string, X402Method>(
    Object.entries(worlds).map(([id, { deps }]) => [id, deps.methods.x402]),
  )
  const callsTo = (id: string) => worlds[id]?.calls ?? []
  return { methods, method: methodOfNetworks(methods), callsTo }
}

/** A store that is paid on two networks. */
function storeOfTwo() {
  const { methods, method, callsTo } = twoChains()
  const { deps, ask } = purchaseWorld({}, { payees })
  Object.assign(deps.methods, { x402: method })
  const accepts = async () => expectPaymentRequired(await ask()).accepts
  async function sign(network: string) {
    const terms = (await accepts()).find((one) => one.network === network)
    if (!terms) throw new Error(`${network} is not accepted`)
    return paymentFor(terms, deps.now())
  }
  return { methods, callsTo, ask, accepts, sign }
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
  expect(order).toMatchObject({ state: 'FULFILLED', payment: { network: id, payTo } })
  expect([callsTo(id), callsTo(other)]).toEqual([['check', 'collect'], []])

  const chains = twoChains()
  const payment = paymentOf({ network: id })
  await chains.method.confirmationOf(payment, receipt)
  const signed = await chains.method.signRefund({ reference: 'ord', payment, since: receipt })
  await chains.method.payBack({ ...signed, network: id })
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
  const { ask, methods, sign } = storeOfTwo()
  const signedPayment = await sign(base.id)
  methods.delete(base.id)
  expect((await refusalOf(ask({ payment: signedPayment }))).code).toBe('try_again')
  const { method } = twoChains()
  const payment = paymentOf({ network: 'eip155:1' })
  const due = { reference: 'ord', payment, since: receipt }
  await expect(method.signRefund(due)).rejects.toThrow('eip155:1 is not connected')
  expect(await method.isUnused(payment)).toBe(false)
  expect(await method.isSignedByPayer(payment)).toBe(false)
  expect(await method.check(payment)).toMatchObject({ outcome: 'unknown', charged: 'unknown' })
  expect(await method.collect(payment)).toMatchObject({ outcome: 'unknown' })
  expect(await method.confirmationOf(payment, receipt)).toBe('unknown')
  const signed = await orderWorld().deps.methods.x402.signRefund(due)
  const refund = { ...signed, network: payment.network }
  expect(await method.payBack(refund)).toMatchObject({ outcome: 'pending' })
})

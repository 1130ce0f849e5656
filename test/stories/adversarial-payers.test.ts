import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { refundNonceOf } from '../../src/adapters/chain/refunds.ts'
import type { OrderId } from '../../src/lib/ids.ts'
import { networks } from '../../src/payments/networks.ts'
import type { Accepts } from '../harness/payer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, transactionsOf, transfersBetween } from './chain.ts'
import { callToken, callTokenTogether, cancelling, settling } from './contracts/calls.ts'
import {
  expectDeliveredOnce,
  expectNeverPaid,
  expectPending,
  expectRefundedOnce,
  expectRefused,
  expectSold,
  orderOfWorthless,
  payBehind,
  payForVoucher,
} from './contracts/outcomes.ts'
import { bodyFor, buy, termsOf, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// Payers who do to their authorization whatever Circle's contract lets them do.
// docs/contributors/adversarial-payers.md lists these attacks, and the others.

let store: Store
let rpc: StoryProxy
let terms: Accepts
let buyer: Buyer

beforeAll(async () => {
  rpc = await startProxy(inject('parts').rpcUrl)
  store = await openStore({
    rpcUrl: rpc.url,
    env: { PURCHASE_WAIT_SECONDS: '1' },
  })
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})
afterAll(async () => {
  await store.close()
  await rpc.close()
})
beforeEach(async () => {
  buyer = await newBuyer()
})
afterEach(() => rpc.breakCalls())

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds

/** An order whose settlement does not reach the chain, however often the store sends it. */
async function stuck() {
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))
  const payment = await buyer.sign(terms)
  const answer = await payForVoucher(store, payment.header)
  expectPending(answer)
  return { payment, orderId: answer.body.orderId as string, header: payment.header }
}

/** The same nonce, signed by the payer for a transfer of the same amount to the payer. */
function toMyself({ authorization: { nonce } }: { authorization: { nonce: Hex } }) {
  return buyer.sign(terms, { nonce, to: buyer.address })
}

test.each([
  { order: 'the worthless one first', isReversed: false },
  { order: 'the real one first', isReversed: true },
])(
  'one transfer in a multicall with two authorizations pays one order: $order',
  async ({ isReversed }) => {
    const a = await stuck()
    const b = await stuck()
    const calls = [settling(await toMyself(a.payment)), settling(b.payment)]
    const hash = await callTokenTogether(store.parts, isReversed ? calls.reverse() : calls)
    const { logs } = await buyer.reader.getTransactionReceipt({ hash })
    expect(logs).toHaveLength(4)

    rpc.breakCalls()
    const delivered = await expectDeliveredOnce(store, buyer.address, b.orderId)
    expect(delivered.transactionHash).toBe(hash)
    await expectNeverPaid(store, buyer.address, { ...a, code: 'authorization_spent' })
    expect(await buyer.balance()).toBe(1_000_000_000n - 500_000n)
  },
)

test('an authorization burnt beside the payment of another order is not taken afterwards', async () => {
  const a = await buyer.sign(terms)
  const b = await stuck()
  await callTokenTogether(store.parts, [settling(b.payment), settling(await toMyself(a))])
  // First, so that nothing moves while it is looked whether the refused payment left a trace.
  rpc.breakCalls()
  await expectDeliveredOnce(store, buyer.address, b.orderId)
  await expectRefused(store, buyer.address, a.header, 'nonce_used')
})

test('a nonce that its payer spends on himself just before the settlement pays nothing', async () => {
  const payment = await buyer.sign(terms)
  const own = await toMyself(payment)
  const sent = await transactionsOf(store.parts, store.gasWallet)
  const answer = await payBehind(store, rpc, payment.header, async () =>
    expect(await callToken(store.parts, settling(own))).toBe('success'),
  )
  const spent = { header: payment.header, code: 'authorization_spent' }
  await expectNeverPaid(store, buyer.address, await orderOfWorthless(store, answer, spent))
  expect(await buyer.balance()).toBe(1_000_000_000n)
  // The one that was on its way; the chain refused it, and it is not sent again and again.
  expect(await transactionsOf(store.parts, store.gasWallet)).toBe(sent + 1)
})

test('a nonce that its payer spends on himself after the settlement is spent already', async () => {
  const payment = await buyer.sign(terms)
  const answer = await payForVoucher(store, payment.header)
  const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  expect(await callToken(store.parts, settling(await toMyself(payment)))).toBe('reverted')
  const cancel = await cancelling(buyer, store.parts.usdc, payment.authorization.nonce)
  expect(await callToken(store.parts, cancel)).toBe('reverted')
  const again = await payForVoucher(store, payment.header)
  expect(again.body.transactionHash).toBe(order.transactionHash)
})

test('a cancellation that overtakes the settlement is no payment, though the nonce is used', async () => {
  const payment = await buyer.sign(terms)
  const { nonce } = payment.authorization
  const cancel = await cancelling(buyer, store.parts.usdc, nonce)
  const answer = await payBehind(store, rpc, payment.header, async () =>
    expect(await callToken(store.parts, cancel)).toBe('success'),
  )
  const cancelled = { header: payment.header, code: 'authorization_cancelled' }
  await expectNeverPaid(store, buyer.address, await orderOfWorthless(store, answer, cancelled))
  expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toEqual([])
})

test.each(['before the purchase', 'while the settlement is on its way'])(
  'a payment that a stranger submits through another contract is delivered once: %s',
  async (when) => {
    const payment = await buyer.sign(terms)
    let hash: Hex | undefined
    const submit = async () => {
      hash = await callTokenTogether(store.parts, [settling(payment)])
    }
    const isEarly = when === 'before the purchase'
    if (isEarly) await submit()
    const answer = isEarly
      ? await payForVoucher(store, payment.header)
      : await payBehind(store, rpc, payment.header, submit)
    expectSold(answer)
    const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
    expect(order.transactionHash).toBe(hash)
  },
)

test('a payment that holds for less than the minimum is refused, one just above is delivered', async () => {
  const short = await buyer.sign(terms, { validBefore: soon(28) })
  await expectRefused(store, buyer.address, short.header, 'expired')
  const enough = await buyer.sign(terms, { validBefore: soon(33) })
  const answer = await payForVoucher(store, enough.header)
  expectSold(answer)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

const most = (2n ** 256n - 1n).toString()

test.each([
  { what: 'for nothing', value: '0', code: 'payment_mismatch' },
  { what: 'for all the money there can be', value: most, code: 'payment_invalid' },
  { what: 'for what overflows to the price', value: (2n ** 96n + 500_000n).toString() },
  { what: 'for the price with a zero before it', value: '0500000' },
])('a payment $what is not taken', async ({ value, code = 'payment_mismatch' }) => {
  const { header } = await buyer.sign(terms, { value })
  await expectRefused(store, buyer.address, header, code)
})

test('terms that ask for all the money there can be are not ours', async () => {
  const { header } = await buyer.sign({ ...terms, amount: most })
  await expectRefused(store, buyer.address, header, 'payment_invalid')
})

/** The same payment with its addresses, or whatever else, written differently. */
function rewritten(header: string, change: (written: string) => string): string {
  return Buffer.from(change(Buffer.from(header, 'base64').toString())).toString('base64')
}

const shouting = (address: string) => `0x${address.slice(2).toUpperCase()}`

test.each(['lower', 'upper'])(
  'addresses in %s case are the same addresses, and the payment is the same payment',
  async (letters) => {
    const payment = await buyer.sign(terms)
    const write = (address: string) =>
      letters === 'lower' ? address.toLowerCase() : shouting(address)
    const header = [buyer.address, terms.payTo, terms.asset].reduce(
      (done, address) => rewritten(done, (text) => text.replaceAll(address, write(address))),
      payment.header,
    )
    const answer = await payForVoucher(store, header)
    expectSold(answer)
    const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
    const again = await payForVoucher(store, payment.header)
    expect(again.body.transactionHash).toBe(order.transactionHash)
    expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toHaveLength(1)
  },
)

test('nobody pays from the address that the store is paid at', async () => {
  const { header } = await buyer.sign(terms)
  const own = rewritten(header, (text) => text.replaceAll(buyer.address, store.payTo))
  await expectRefused(store, store.payTo, own, 'payment_mismatch')
})

test('nobody pays with the money of refunds: not a stranger, and not who has its key', async () => {
  const { header } = await buyer.sign(terms)
  const stolen = rewritten(header, (text) => text.replaceAll(buyer.address, store.refundWallet))
  await expectRefused(store, store.refundWallet, stolen, 'payment_mismatch')

  const wallet = privateKeyToAccount(store.settings.refundKey)
  const insider = await newBuyer(0n, store.parts, wallet)
  const signed = await insider.sign(terms)
  await expectRefused(store, store.refundWallet, signed.header, 'payment_mismatch')
})

test('a payment whose nonce is the one of a refund leaves that refund alone', async () => {
  const before = await balanceOf(store.parts, buyer.address)
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = answer.body
  const nonce = refundNonceOf(networks['base-sepolia'].chainId, orderId as OrderId)
  const payment = await buyer.sign(terms, { nonce })
  const other = await payForVoucher(store, payment.header)
  expectSold(other)
  await expectRefundedOnce(store, buyer.address, orderId)
  await until(store, other.body.orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(await buyer.balance()).toBe(before - 500_000n)
})

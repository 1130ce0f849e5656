import {
  type Address,
  getContractAddress,
  type Hex,
  keccak256,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Accepts, SignOptions } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { anybody, balanceOf, transactionsOf, transfersBetween } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import {
  expectDeliveredOnce,
  expectRefundedOnce,
  expectRefused,
  expectSold,
  payForVoucher,
} from './contracts/outcomes.ts'
import {
  deploy,
  deploying,
  signingFor,
  smartWallet,
  treacherousCode,
  walletCode,
} from './contracts/wallet.ts'
import { bodyFor, buy, post, purchasePath, termsOf } from './requests.ts'
import { openSibling, useStore } from './store.ts'

// Each of these is refused with fresh terms and its reason, and nothing has happened.

const store = useStore({ env: { PURCHASE_WAIT_SECONDS: '2' } })
const rich = 1_000_000_000n
let buyer: Buyer
let terms: Accepts

beforeAll(async () => {
  buyer = await newBuyer()
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds
const stranger = '0x00000000000000000000000000000000000000aa'
const newOwner = () => privateKeyToAccount(generatePrivateKey())

test.each<[string, Partial<Accepts>, SignOptions, string]>([
  ['for a lower amount', { amount: '499999' }, {}, 'payment_mismatch'],
  ['for another value than it accepted', {}, { value: '499999' }, 'payment_mismatch'],
  ['to another than it accepted', {}, { to: stranger }, 'payment_mismatch'],
  ['for another store', { payTo: stranger }, {}, 'payment_mismatch'],
  ['in another coin', { asset: stranger }, {}, 'payment_mismatch'],
  ['good for too long', {}, { validBefore: soon(7_200) }, 'valid_too_long'],
  ['over', {}, { validBefore: 0 }, 'expired'],
  ['about to end', {}, { validBefore: soon(20) }, 'expired'],
])('a payment that is %s is not taken', async (_, accepts, sign, code) => {
  const { header } = await buyer.sign({ ...terms, ...accepts }, sign)
  await expectRefused(store, buyer.address, header, code)
})

test('a payment above the maximum that its request names is not taken', async () => {
  const body = { ...bodyFor('voucher', 'OK'), maxUsdc: 0.49 }
  const balance = await buyer.balance()
  const paid = { 'payment-signature': (await buyer.sign(terms)).header }
  expect(await post(store.url, purchasePath('voucher'), body, paid)).toMatchObject({
    status: 409,
    body: { code: 'price_above_maximum', charged: 'no' },
  })
  expect(await buyer.balance()).toBe(balance)
})

test('a signature of somebody else, or of something else, is not taken', async () => {
  const mine = await buyer.sign(terms)
  const theirs = await (await newBuyer()).sign(terms)
  for (const signature of [theirs.signature, `0x${'11'.repeat(65)}`, mine.signature.slice(0, -2)]) {
    const payload = { signature, authorization: mine.authorization }
    const payment = JSON.stringify({ x402Version: 2, accepted: terms, payload })
    const header = Buffer.from(payment).toString('base64')
    await expectRefused(store, buyer.address, header, 'bad_signature')
  }
})

test('a wallet that does not hold enough is told so', async () => {
  const poor = await newBuyer(499_999n)
  const { header } = await poor.sign(terms)
  await expectRefused(store, poor.address, header, 'insufficient_balance')
})

test('an authorization that was spent on somebody else is not taken', async () => {
  const used = await buyer.sign(terms)
  const { nonce } = used.authorization
  const elsewhere = await buyer.sign(terms, { nonce, to: stranger, value: '1' })
  expect(await callToken(store.parts, settling(elsewhere))).toBe('success')
  await expectRefused(store, buyer.address, used.header, 'nonce_used')
})

test('a payment that somebody else submitted first is found and delivered', async () => {
  const payer = await newBuyer()
  const payment = await payer.sign(terms)
  expect(await callToken(store.parts, settling(payment))).toBe('success')
  const [paid] = await transfersBetween(store.parts, payer.address, store.payTo)
  const answer = await payForVoucher(store, payment.header)
  const order = await expectDeliveredOnce(store, payer.address, answer.body.orderId)
  expect(order.transactionHash).toBe(paid?.transactionHash)
})

describe('a smart wallet', () => {
  test('buys (ERC-1271), and its refund arrives at the contract, not at its owner', async () => {
    const owner = newOwner()
    const wallet = await newBuyer(rich, store.parts, await smartWallet(store.parts, owner))
    const answer = await payForVoucher(store, (await wallet.sign(terms)).header)
    expectSold(answer)
    await expectDeliveredOnce(store, wallet.address, answer.body.orderId)
    const failed = await buy(store, wallet, 'topup', bodyFor('topup', 'FAIL'))
    await expectRefundedOnce(store, wallet.address, failed.answer.body.orderId)
    expect(await wallet.balance()).toBe(rich - 500_000n)
    expect(await balanceOf(store.parts, owner.address)).toBe(0n)
  })

  test('takes no signature but its owner’s', async () => {
    const wallet = await deploy(store.parts, walletCode(newOwner().address))
    const thief = await newBuyer(rich, store.parts, signingFor(wallet, newOwner()))
    await expectRefused(store, wallet, (await thief.sign(terms)).header, 'bad_signature')
  })

  test('that is yet to be deployed is refused (ERC-6492), and pays once it is', async () => {
    const owner = newOwner()
    const { account, client } = await anybody(store.parts, generatePrivateKey())
    const address = getContractAddress({ from: account.address, nonce: 0n })
    const factory: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
    const wrapped = (signature: Hex) =>
      serializeErc6492Signature({ address: factory, data: keccak256('0x01'), signature })
    const wallet = await newBuyer(rich, store.parts, signingFor(address, owner, wrapped))
    const { header } = await wallet.sign(terms)
    await expectRefused(store, address, header, 'wallet_not_deployed')

    const data = deploying(walletCode(owner.address))
    const hash = await client.sendTransaction({ account, data })
    await client.waitForTransactionReceipt({ hash })
    const answer = await payForVoucher(store, header)
    expectSold(answer)
    await expectDeliveredOnce(store, address, answer.body.orderId)
  })

  test('that a wallet delegates to (EIP-7702) decides for it', async () => {
    const owner = newOwner()
    const wallet = await newBuyer(rich, store.parts, owner)
    const code = await deploy(store.parts, walletCode('self'))
    const { client, account } = await anybody(store.parts, generatePrivateKey())
    const delegation = { address: code, chainId: 84_532, nonce: 0 }
    const hash = await client.sendTransaction({
      account,
      to: account.address,
      authorizationList: [await owner.signAuthorization(delegation)],
    })
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
    const answer = await payForVoucher(store, (await wallet.sign(terms)).header)
    expectSold(answer)
    await expectDeliveredOnce(store, wallet.address, answer.body.orderId)
  })

  test('that never pays is refused by all nodes before it costs more than a few transactions', async () => {
    const sibling = await openSibling(store)
    const owner = newOwner()
    const wallet = await deploy(store.parts, treacherousCode(owner.address))
    const payer = await newBuyer(rich, store.parts, signingFor(wallet, owner))
    const before = await transactionsOf(store.parts, store.gasWallet)
    const headers = await Promise.all(
      Array.from({ length: 8 }, async () => (await payer.sign(terms)).header),
    )
    const answers = await Promise.all(
      headers.map((header, at) => payForVoucher(at % 2 ? store : { ...store, ...sibling }, header)),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(3)
    for (const answer of refused) {
      expect(['unpaid_payments', 'reverts']).toContain(answer.body.budget)
      expect(answer.body).toMatchObject({ code: 'budget_spent', whose: 'payer', charged: 'no' })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    // Each of the five that were opened is sent three times at most.
    const sent = (await transactionsOf(store.parts, store.gasWallet)) - before
    expect(sent).toBeLessThanOrEqual(5 * 3)
    await sibling.close()
  })
})

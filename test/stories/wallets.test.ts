import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { newBuyer } from './buyer.ts'
import { anybody, balanceOf, transfersBetween } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import {
  expectDeliveredOnce,
  expectRefundedOnce,
  expectSold,
  payForVoucher,
} from './contracts/outcomes.ts'
import { deploy, smartWallet, walletCode } from './contracts/wallet.ts'
import { bodyFor, buy, termsOf } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()
const rich = 1_000_000_000n
let terms: Accepts

beforeAll(async () => {
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})

const newOwner = () => privateKeyToAccount(generatePrivateKey())

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
})

import {
  type Address,
  getContractAddress,
  type Hex,
  keccak256,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { anybody, balanceOf } from './chain.ts'
import {
  expectDeliveredOnce,
  expectRefundedOnce,
  expectRefused,
  expectSold,
  payForVoucher,
} from './contracts/outcomes.ts'
import { deploy, deploying, signingFor, smartWallet, walletCode } from './contracts/wallet.ts'
import { bodyFor, buy, termsOf } from './requests.ts'
import { openStore, type Store } from './store.ts'

// Payers that are contracts, will be contracts, or say that they are.

let store: Store
let rpc: StoryProxy
let terms: Accepts

beforeAll(async () => {
  rpc = await startProxy(inject('parts').rpcUrl)
  const env = { PURCHASE_WAIT_SECONDS: '2' }
  store = await openStore({ env, rpcUrl: rpc.url })
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})
afterAll(async () => {
  await store.close()
  await rpc.close()
})

const rich = 1_000_000_000n
const newOwner = () => privateKeyToAccount(generatePrivateKey())

test('a smart wallet buys (ERC-1271), and a payment that is sent again is the same order', async () => {
  const buyer = await newBuyer(rich, store.parts, await smartWallet(store.parts))
  expect(await buyer.reader.getCode({ address: buyer.address })).toBeDefined()
  const { header } = await buyer.sign(terms)
  const answer = await payForVoucher(store, header)
  expectSold(answer)
  const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  const again = await payForVoucher(store, header)
  expect(again.body.transactionHash).toBe(order.transactionHash)
  expect(await buyer.balance()).toBe(rich - 500_000n)
})

test('a refund to a smart wallet arrives at the contract, not at its owner', async () => {
  const owner = newOwner()
  const buyer = await newBuyer(rich, store.parts, await smartWallet(store.parts, owner))
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  await expectRefundedOnce(store, buyer.address, answer.body.orderId)
  expect(await buyer.balance()).toBe(rich)
  expect(await balanceOf(store.parts, owner.address)).toBe(0n)
})

test('a smart wallet takes no signature but its owner’s', async () => {
  const wallet = await deploy(store.parts, walletCode(newOwner().address))
  const signers = [
    signingFor(wallet, newOwner()),
    signingFor(wallet, newOwner(), () => `0x${'00'.repeat(65)}`),
    signingFor(wallet, newOwner(), (signature) => signature.slice(0, -2) as Hex),
  ]
  await newBuyer(rich, store.parts, signers[0])
  for (const signer of signers) {
    const { header } = await (await newBuyer(0n, store.parts, signer)).sign(terms)
    await expectRefused(store, wallet, header, 'bad_signature')
  }
})

/** A wallet that holds money, is not deployed, and would be by this transaction of anybody. */
async function undeployed() {
  const owner = newOwner()
  const { account, client } = await anybody(store.parts, generatePrivateKey())
  const address = getContractAddress({ from: account.address, nonce: 0n })
  const deployIt = async () => {
    const data = deploying(walletCode(owner.address))
    const hash = await client.sendTransaction({ account, data })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    expect(contractAddress).toBe(address.toLowerCase())
  }
  return { address, owner, deployIt }
}

/** A signature that says how its wallet is to be deployed, by which factory. */
function wrapped(signature: Hex): Hex {
  const address: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
  return serializeErc6492Signature({ address, data: keccak256('0x01'), signature })
}

test('a wallet that is yet to be deployed is refused (ERC-6492), and costs no gas', async () => {
  const { address, owner, deployIt } = await undeployed()
  const bare = await newBuyer(rich, store.parts, signingFor(address, owner))
  const whole = await newBuyer(0n, store.parts, signingFor(address, owner, wrapped))
  const payment = await whole.sign(terms)
  await expectRefused(store, address, payment.header, 'wallet_not_deployed')
  await expectRefused(store, address, (await bare.sign(terms)).header, 'bad_signature')

  // Once its owner has deployed it at his own expense, the same signature is good.
  await deployIt()
  const answer = await payForVoucher(store, payment.header)
  expectSold(answer)
  await expectDeliveredOnce(store, address, answer.body.orderId)
})

/** An ordinary wallet that lets this contract speak for it (EIP-7702). */
async function delegated(code: Address): Promise<Buyer> {
  const owner = newOwner()
  const buyer = await newBuyer(rich, store.parts, owner)
  const { client, account } = await anybody(store.parts, generatePrivateKey())
  const authorization = await owner.signAuthorization({ address: code, chainId: 84_532, nonce: 0 })
  const hash = await client.sendTransaction({
    account,
    to: account.address,
    authorizationList: [authorization],
  })
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
  const now = await client.getCode({ address: owner.address })
  expect(now).toBe(`0xef0100${code.slice(2).toLowerCase()}`)
  return buyer
}

test('a wallet that delegates to a contract (EIP-7702) buys when the contract knows its signature', async () => {
  const buyer = await delegated(await deploy(store.parts, walletCode('self')))
  const answer = await payForVoucher(store, (await buyer.sign(terms)).header)
  expectSold(answer)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Chain, startChain } from '../../sandbox/chain/chain.ts'
import { type Fault, type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { mintUsdc, transactionsOf, transfersBetween, usdcAbi } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import { expectStillPending } from './contracts/outcomes.ts'
import { bookedFor, lifeOf } from './facts.ts'
import { bodyFor, buy, get, post, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// These stories move the clock of their chain, so it is theirs alone.

const voucher = bodyFor('voucher', 'OK')

let dataDir: string
let chain: Chain
let rpc: StoryProxy
let store: Store

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-failed-'))
  chain = await startChain({ dataDir })
  rpc = await startProxy(chain.rpcUrl)
  store = await openStore({
    chain,
    rpcUrl: rpc.url,
    env: { PURCHASE_WAIT_SECONDS: '1' },
  })
})
afterAll(async () => {
  await store.close()
  await rpc.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})
afterEach(() => rpc.breakCalls())

/** Pays while nothing that the store sends reaches the chain. */
async function payIntoTheVoid(buyer: Buyer, headers: Record<string, string> = {}) {
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))
  const validBefore = Math.floor(Date.now() / 1_000) + 200
  const paid = await buy(store, buyer, 'voucher', voucher, { validBefore, headers })
  expect(paid.answer).toMatchObject({
    status: 202,
    body: { orders: [{ state: 'PAYMENT_PENDING' }] },
  })
  return paid
}

function failed(orderId: string) {
  return until(store, orderId, ({ orders: [{ state }] }) => state === 'PAYMENT_FAILED')
}

type Paid = Awaited<ReturnType<typeof payIntoTheVoid>>

/** The failure is proven: the order says so, its payment may be asked for again, nothing was bought. */
async function expectFailed(
  buyer: Buyer,
  { answer, payment, send }: Paid,
  code: string,
): Promise<void> {
  const order = await failed(answer.body.orderId)
  expect(order).toMatchObject({
    transactionHash: null,
    refund_state: null,
    orders: [{ state: 'PAYMENT_FAILED', agent_action: null, result: null, error: { code } }],
  })
  const again = await send()
  expect(again).toMatchObject({ status: 402, body: { code, charged: 'no' } })
  expect(again.headers.get('payment-required')).not.toBeNull()
  // It cannot be paid late either: the token takes the authorization from nobody any more.
  expect(await callToken(chain, settling(payment))).toBe('reverted')
  expect(await transfersBetween(chain, buyer.address, store.payTo)).toEqual([])
  expect((await lifeOf(store, answer.body.orderId)).states).toEqual([
    'PAYMENT_PENDING',
    'PAYMENT_FAILED',
  ])
  expect(await bookedFor(store, answer.body.orderId)).toEqual([])
  const refund = await post(
    store.url,
    `/api/catalog/orders/${answer.body.orderId}/refund`,
    {},
    { 'idempotency-key': 'nothing-was-paid-here' },
  )
  expect(refund).toMatchObject({ status: 409, body: { code: 'not_refundable', charged: 'no' } })
  const receipt = await get(store.url, `/api/catalog/orders/${answer.body.orderId}/receipt`)
  expect(receipt).toMatchObject({ status: 409, body: { code: 'no_receipt', charged: 'no' } })
}

/** Whatever the buyer does with its own wallet. */
async function asBuyer(buyer: Buyer, functionName: string, args: readonly unknown[]) {
  await buyer.reader.setBalance({ address: buyer.address, value: 10n ** 18n })
  const hash = await buyer.reader.writeContract({
    address: chain.usdc,
    abi: usdcAbi,
    functionName,
    args,
    account: buyer.account,
  } as never)
  const { status } = await buyer.reader.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
}

test('a settlement that was reverted is no failure: anybody can still land the payment', async () => {
  const buyer = await newBuyer(1_000_000n, chain)
  const elsewhere = await newBuyer(0n, chain)
  let emptied: Promise<void> | undefined
  rpc.breakCalls(async (call): Promise<Fault> => {
    if (call !== 'eth_sendRawTransaction') return 'none'
    emptied ??= asBuyer(buyer, 'transfer', [elsewhere.address, 1_000_000n])
    await emptied
    return 'none'
  })
  const sent = await transactionsOf(chain, store.gasWallet)
  const { answer, payment, send } = await buy(store, buyer, 'voucher', voucher)
  expect(answer).toMatchObject({ status: 202, body: { orders: [{ state: 'PAYMENT_PENDING' }] } })
  expect(await transactionsOf(chain, store.gasWallet)).toBe(sent + 1)
  expect(await transfersBetween(chain, buyer.address, store.payTo)).toEqual([])
  await buyer.reader.mine({ blocks: 3 })
  expectStillPending(await send())

  // The store itself is cut off, so that it is a stranger who lands it.
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))
  await mintUsdc(chain, buyer.address, 1_000_000n)
  expect(await callToken(chain, settling(payment))).toBe('success')
  const { orderId } = answer.body
  const order = await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(await transfersBetween(chain, buyer.address, store.payTo)).toEqual([
    { transactionHash: order.transactionHash, value: 500_000n },
  ])
  expect(await transactionsOf(chain, store.gasWallet)).toBe(sent + 1)
})

test('a payment that never lands has failed when its time is over at a safe block, and not before', async () => {
  const buyer = await newBuyer(1_000_000n, chain)
  const moved = await newBuyer(1_000_000n, chain)
  const paid = await payIntoTheVoid(buyer)
  const emptied = await payIntoTheVoid(moved)
  await asBuyer(moved, 'transfer', [store.payTo, 1_000_000n])
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))

  await buyer.reader.mine({ blocks: 3 })
  expectStillPending(await paid.send())
  expectStillPending(await emptied.send())

  await buyer.reader.increaseTime({ seconds: 250 })
  await buyer.reader.mine({ blocks: 3 })
  await expectFailed(buyer, paid, 'authorization_expired')
  const order = await failed(emptied.answer.body.orderId)
  expect(order.orders[0].error.code).toBe('authorization_expired')
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Chain, startChain } from '../../sandbox/chain/chain.ts'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import { type Fault, type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { endLease } from './child-node.ts'
import { callToken, cancelling } from './contracts/calls.ts'
import { expectRefundedOnce } from './contracts/outcomes.ts'
import { bookedFor, lifeOf, reported } from './facts.ts'
import { holdWrite } from './held-write.ts'
import { bodyFor, buy, buyDelivered, eventually, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// The chain drops blocks that it had shown. It does so to everyone on it, so it is theirs alone.

let dataDir: string
let chain: Chain
let rpc: StoryProxy
let store: Store
let buyer: Buyer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-vanished-'))
  chain = await startChain({ dataDir })
  rpc = await startProxy(chain.rpcUrl)
  const env = { PURCHASE_WAIT_SECONDS: '5' }
  store = await openStore({ chain, rpcUrl: rpc.url, env })
})
beforeEach(async () => {
  buyer = await newBuyer(1_000_000n, chain)
})
afterEach(() => rpc.breakCalls())
afterAll(async () => {
  await store.close()
  await rpc.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const voucher = bodyFor('voucher', 'OK')

/** Replaces the newest blocks, down to the one with this transaction, by empty ones. */
async function dropBlocks(transaction: Hex): Promise<void> {
  const client = chainClient(chain.rpcUrl)
  const { blockNumber } = await client.getTransactionReceipt({ hash: transaction })
  const depth = Number((await client.getBlockNumber()) - blockNumber) + 1
  await client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
  await expect(client.getTransactionReceipt({ hash: transaction })).rejects.toThrow()
  await client.mine({ blocks: 2 })
}

/**
 * The store looks at a payment again a minute after it was seen. No story waits that long: the
 * record says that it was, against the rules of the table, which let no payment become older.
 */
async function paidLongAgo(orderId: string): Promise<void> {
  await store.query(`set session_replication_role = replica;
    update orders set doc = jsonb_set(doc, '{paidAt,$date}',
      to_jsonb(to_char(now() - interval '2 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
    where id = '${orderId}'`)
}

/** Hurries an order on until its record is like this. */
async function hurried(orderId: string, met: (row: Record<string, unknown>) => boolean) {
  return eventually(async () => {
    await lookNow(orderId)
    const [row] = await store.query(
      'select state, settlement, transaction_hash from orders where id = $1',
      [orderId],
    )
    return row
  }, met)
}

/** Makes an order due that nobody works on: what rests for a minute is looked at now. */
async function lookNow(orderId: string): Promise<void> {
  await store.query(
    'update orders set due_at = now() where id = $1 and locked_until <= now() and due_at > now()',
    [orderId],
  )
}

const paymentsOf = () => transfersBetween(chain, buyer.address, store.payTo)

test('a payment that the chain drops after the delivery is sent again, and is final then', async () => {
  const { order } = await buyDelivered(store, buyer, 'voucher')
  const { orderId, transactionHash } = order
  await dropBlocks(transactionHash)
  expect(await paymentsOf()).toEqual([])

  await paidLongAgo(orderId)
  const row = await hurried(orderId, ({ settlement }) => settlement === 'FINAL')
  expect(row['state']).toBe('FULFILLED')
  // With the same fees in the same place it is the same transaction once more.
  expect(await paymentsOf()).toMatchObject([
    { transactionHash: row['transaction_hash'], value: 500_000n },
  ])
  expect(reported(store, orderId)).toContain('payment_vanished')
  expect(reported(store, orderId)).not.toContain('payment_lost')
  expect(await bookedFor(store, orderId)).toMatchObject([{ deliveries: 1 }])
})

test('a payment that is cancelled after the chain dropped it is a loss that the operator hears of', async () => {
  const { order, payment } = await buyDelivered(store, buyer, 'voucher')
  const { orderId, transactionHash } = order
  await dropBlocks(transactionHash)
  const cancel = await cancelling(buyer, chain.usdc, payment.authorization.nonce)
  expect(await callToken(chain, cancel)).toBe('success')

  await paidLongAgo(orderId)
  const row = await hurried(orderId, ({ settlement }) => settlement === 'LOST')
  expect(row['state']).toBe('FULFILLED')
  expect(await paymentsOf()).toEqual([])
  expect(reported(store, orderId)).toContain('payment_lost')
  const sources = await store.query(
    'select account, sum(amount)::text as sum from ledger where order_id = $1 group by account',
    [orderId],
  )
  expect(sources.map(({ sum }) => sum)).toEqual(['0', '0', '0'])
})

test('a payment that the chain drops before anything is bought is unknown again, and sent again', async () => {
  const isBegun = `old.state = 'PAID' and new.state = 'FULFILLING'`
  const held = await holdWrite(store, isBegun)
  const buying = buy(store, buyer, 'voucher', voucher)
  await held.reached()
  const [{ id, transaction_hash }] = await store.query(
    'select id, transaction_hash from orders where payer = $1',
    [buyer.address.toLowerCase()],
  )
  await held.undo()
  await buying
  await dropBlocks(transaction_hash)
  expect(await bookedFor(store, id)).toEqual([])

  await paidLongAgo(id)
  await endLease(store, id)
  await until(store, id, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect((await lifeOf(store, id)).states).toEqual([
    ...['PAYMENT_PENDING', 'PAID', 'PAYMENT_PENDING', 'PAID'],
    ...['FULFILLING', 'FULFILLED'],
  ])
  expect(await paymentsOf()).toHaveLength(1)
  expect(await bookedFor(store, id)).toMatchObject([{ deliveries: 1 }])
})

test('a refund that the chain drops is sent again, and paid once', async () => {
  const before = await buyer.balance()
  let sent = 0
  let dropping = Promise.resolve(false)
  rpc.breakCalls(async (call): Promise<Fault> => {
    if (call === 'eth_sendRawTransaction') sent += 1
    // The first transaction is the payment; nobody has seen the second one in its block yet.
    if (call === 'eth_getTransactionReceipt' && sent === 2) {
      dropping = dropping.then((isDropped) => isDropped || dropRefund())
      await dropping
    }
    return 'none'
  })
  /** The call may be about the payment, while the refund is still on its way into a block. */
  async function dropRefund(): Promise<boolean> {
    const [refund] = await transfersBetween(chain, store.refundWallet, buyer.address)
    if (refund) await dropBlocks(refund.transactionHash)
    return refund !== undefined
  }
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'DECLINED'))
  const { orderId } = answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await dropping).toBe(true)
  await expectRefundedOnce(store, buyer.address, orderId)
  expect(await buyer.balance()).toBe(before)
})

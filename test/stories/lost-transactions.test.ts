import { afterAll, expect, inject, test } from 'vitest'
import { type Fault, startProxy } from '../harness/proxy.ts'
import { newBuyer } from './buyer.ts'
import { expectDeliveredOnce, expectRefundedOnce } from './contracts/outcomes.ts'
import { lifeOf, reported } from './facts.ts'
import { bodyFor, buy, get, post, until } from './requests.ts'
import { openStore } from './store.ts'

// What the store sends to the chain may get lost on both ways, or be taken by a node and then
// forgotten. Each story has a store and a gas wallet of its own.

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A store whose transactions meet these faults, one after the other, and then none. */
async function openUnlucky(...faults: readonly Fault[]) {
  const rpc = await startProxy(inject('parts').rpcUrl)
  const env = { PURCHASE_WAIT_SECONDS: '1' }
  const store = await openStore({ rpcUrl: rpc.url, env })
  closing.push(rpc.close, store.close)
  const left = [...faults]
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? (left.shift() ?? 'none') : 'none'))
  return { store, rpc, left }
}

test.concurrent('a refund whose answer is lost is found on the chain, and not paid again', async () => {
  const { store, left } = await openUnlucky('none', 'lose_answer')
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'DECLINED'))
  await expectRefundedOnce(store, buyer.address, answer.body.orderId)
  expect(left).toEqual([])
  expect(await buyer.balance()).toBe(before)
  expect((await lifeOf(store, answer.body.orderId)).refunds).toEqual(['DUE', 'SIGNED', 'REFUNDED'])
})

test.concurrent('a refund that a node took and dropped is sent again, and holds up no other', async () => {
  const { store, left } = await openUnlucky('none', 'drop')
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'DECLINED'))
  const { orderId } = answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await expectRefundedOnce(store, buyer.address, orderId)
  expect(left).toEqual([])
  expect(await buyer.balance()).toBe(before)
  const next = await newBuyer()
  const { answer: bought } = await buy(store, next, 'voucher', bodyFor('voucher', 'OK'))
  await expectDeliveredOnce(store, next.address, bought.body.orderId)
})

test.concurrent('a settlement that a node took and dropped is sent again, and holds up no other', async () => {
  const { store, left } = await openUnlucky('none', 'drop')
  // A gap in the wallet's account nonces can only be left after its first transaction.
  await buy(store, await newBuyer(), 'voucher', bodyFor('voucher', 'OK'))
  const buyer = await newBuyer()
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  // Nobody is asked to pay again: the same transaction is sent once more while the buyer waits.
  expect([200, 202]).toContain(answer.status)
  const { orderId } = answer.body
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  expect(left).toEqual([])
  const next = await newBuyer()
  const { answer: bought } = await buy(store, next, 'voucher', bodyFor('voucher', 'OK'))
  await expectDeliveredOnce(store, next.address, bought.body.orderId)
})

test.concurrent('a refund that no gas is left for is left to the operator, and paid once when there is', async () => {
  const { store, rpc } = await openUnlucky()
  const buyer = await newBuyer()
  const before = await buyer.balance()
  let emptied: Promise<void> | undefined
  rpc.breakCalls(async (call): Promise<Fault> => {
    // Once the payment is in a block, what is left of the gas is gone before the refund.
    if (call === 'eth_getTransactionReceipt' && (await buyer.balance()) < before) {
      emptied ??= buyer.reader.setBalance({ address: store.gasWallet, value: 0n })
      await emptied
    }
    return 'none'
  })
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'DECLINED'))
  const { orderId } = answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUND_FAILED')
  const path = `/api/catalog/orders/${orderId}/refund`
  expect((await get(store.url, path)).body).toMatchObject({ error: { code: 'no_gas' } })
  expect(reported(store, orderId)).toContain('refund_failed')

  await buyer.reader.setBalance({ address: store.gasWallet, value: 10n ** 18n })
  const key = { 'idempotency-key': 'the-gas-wallet-is-filled' }
  expect((await post(store.url, path, {}, key)).status).toBe(202)
  await expectRefundedOnce(store, buyer.address, orderId)
  expect(await buyer.balance()).toBe(before)
})

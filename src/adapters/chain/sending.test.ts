import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { X402Payment } from '../../payments/payment.ts'
import { newPayment, nodeBefore, price, startStillChain } from './chain.fixture.ts'
import { accountNonces, type Chain } from './clients.ts'
import type { Sending } from './sending.ts'
import { sendTransfer, transferOf } from './token.ts'

const chain = await startStillChain()
const node = await nodeBefore(chain.rpcUrl)
let key: Hex
let address: Hex

beforeEach(async () => {
  key = generatePrivateKey()
  address = privateKeyToAccount(key).address
  await chain.client.setBalance({ address, value: 10n ** 20n })
})
afterEach(() => chain.client.setAutomine(true))

const opened = () => chain.open({ gasKey: key })

async function newPayments(count: number): Promise<X402Payment[]> {
  const payments: X402Payment[] = []
  for (let made = 0; made < count; made += 1) payments.push((await newPayment(chain)).payment)
  return payments
}

/** Pushes often, and ends only when the transaction is in a block. */
const untilInBlock = { withinMs: 600_000, waits: 1_500 }

const send = (by: Chain, payment: X402Payment, sending: Sending = untilInBlock) =>
  sendTransfer(by, transferOf(payment), sending)

/** Begins to send a payment while no block is made. */
async function sendStuck() {
  const [payment] = (await newPayments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  return { payment, sending: send(opened(), payment) }
}

async function expectEachPaidOnce(payments: readonly X402Payment[]): Promise<void> {
  for (const { payer, payTo } of payments) {
    expect(await chain.transfers(payer, payTo)).toMatchObject([{ value: price }])
  }
}

const sentWithKey = () => chain.client.getTransactionCount({ address })

/** The transaction that the node would put into a block first. */
async function waiting() {
  const { pending } = await chain.client.getTxpoolContent()
  return Object.values(Object.values(pending)[0] ?? {})[0]
}

const somethingWaits = () => expect.poll(waiting).toBeDefined()

/** Another transaction of the same key, with this nonce. */
const sendForeign = (fees: Record<'maxFeePerGas' | 'maxPriorityFeePerGas', bigint>) =>
  chain.client.sendTransaction({
    ...{ account: privateKeyToAccount(key), to: address, nonce: 0 },
    ...fees,
  })

test('two processes with one key send twenty payments each, and each lands once', async () => {
  const senders = [opened(), opened()]
  const payments = await newPayments(40)
  const sent = await Promise.all(
    payments.map((payment, index) => send(senders[index % 2] as Chain, payment)),
  )
  expect(sent.filter(({ receipt }) => receipt?.status !== 'success')).toEqual([])
  await expectEachPaidOnce(payments)
  expect(await sentWithKey()).toBe(40)
})

test('a transaction that no block takes is sent again in its place for a higher fee', async () => {
  const { payment, sending } = await sendStuck()
  const fees: bigint[] = []
  const seen = async () => {
    const fee = (await waiting())?.maxFeePerGas
    if (fee && BigInt(fee) !== fees.at(-1)) fees.push(BigInt(fee))
    return fees.length
  }
  await expect.poll(seen).toBeGreaterThan(1)
  await chain.mine()
  const { hash, receipt } = await sending
  expect(receipt?.status).toBe('success')
  expect(await sentWithKey()).toBe(1)
  expect(await chain.transfers(payment.payer, payment.payTo)).toEqual([
    { value: price, transaction: hash },
  ])
  const [first = 0n, second = 0n] = fees
  expect(second * 10n).toBeGreaterThanOrEqual(first * 11n)
})

test('a transaction that the node has dropped is sent again', async () => {
  const { payment, sending } = await sendStuck()
  await somethingWaits()
  const dropped = (await waiting())?.hash
  await chain.client.dropTransaction({ hash: dropped as Hex })
  await somethingWaits()
  await chain.mine()
  expect((await sending).hash).not.toBe(dropped)
  await expectEachPaidOnce([payment])
})

test('a transaction whose place another process has taken is sent again in another one', async () => {
  const { payment, sending } = await sendStuck()
  await somethingWaits()
  await sendForeign({ maxFeePerGas: 10n ** 13n, maxPriorityFeePerGas: 10n ** 13n })
  await chain.mine()
  expect(await chain.transfers(payment.payer, payment.payTo)).toEqual([])
  await somethingWaits()
  await chain.mine()
  expect(await sending).toMatchObject({ receipt: { status: 'success' } })
  await expectEachPaidOnce([payment])
})

test('a transaction of another process that is stuck is replaced, and holds nobody up', async () => {
  // It pays three times the present fee and is still in no block, as if the node had forgotten it.
  const { maxFeePerGas, maxPriorityFeePerGas } = await chain.client.estimateFeesPerGas()
  const [payment] = (await newPayments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  await sendForeign({
    maxFeePerGas: maxFeePerGas * 3n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 3n,
  })
  const sending = send(opened(), payment)
  await expect.poll(async () => (await waiting())?.to).toBe(chain.usdc.toLowerCase())
  await chain.mine()
  expect(await sending).toMatchObject({ receipt: { status: 'success' } })
  await expectEachPaidOnce([payment])
})

test('two of one process that wait for the same block leave each other their places', async () => {
  const by = chain.open({ gasKey: key, rpcUrl: node.url })
  const payments = await newPayments(2)
  await chain.client.setAutomine(false)
  let pushes = 0
  node.tamper((method, [, block]) => {
    if (method === 'eth_getTransactionCount' && block === 'latest') pushes += 1
    return undefined
  })
  const sending = Promise.all(payments.map((payment) => send(by, payment)))
  const firstCalls = new Set<string>()
  const pushed = async () => {
    const first = await waiting()
    if (first) firstCalls.add(first.input)
    return pushes
  }
  await expect.poll(pushed).toBeGreaterThan(6)
  expect(firstCalls.size).toBe(1)
  await chain.mine()
  await sending
  await expectEachPaidOnce(payments)
  expect(await sentWithKey()).toBe(2)
})

test('a transaction that is in no block at the end may still land: that is no failure', async () => {
  const [payment] = (await newPayments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const { receipt } = await send(opened(), payment, { withinMs: 200 })
  expect(receipt).toBeUndefined()
  await chain.mine()
  await expectEachPaidOnce([payment])
})

test('a payment that the token refuses costs nothing', async () => {
  const [payment] = (await newPayments(1)) as [X402Payment]
  const by = opened()
  await send(by, payment)
  await expect(send(by, payment)).rejects.toThrow(/used or canceled/)
  expect(await sentWithKey()).toBe(1)
})

test('numbers that are in use are not given again, and the node decides when none is', async () => {
  const state = { counted: 7 }
  const nonces = accountNonces(() => Promise.resolve(state.counted))
  expect(await Promise.all([nonces.reserve(), nonces.reserve(), nonces.reserve()])).toEqual([
    7, 8, 9,
  ])
  nonces.giveBack(8)
  expect(await nonces.reserve()).toBe(8)
  nonces.yieldTo(8)
  expect([nonces.isOurs(7), nonces.isOurs(8), nonces.isOurs(10)]).toEqual([true, false, false])
  expect(await nonces.reserve()).toBe(10)
  for (const nonce of [7, 9, 10]) nonces.giveBack(nonce)
  // A reorganisation has dropped transactions that were counted before.
  state.counted = 5
  expect(await nonces.reserve()).toBe(5)
})

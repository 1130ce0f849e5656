import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { newPayment, price, type StillChain, startStillChain } from './chain.fixture.ts'
import { accountNonces, type Chain } from './clients.ts'
import { transferOf } from './facilitator.ts'
import type { Sent } from './sending.ts'
import { sendTransfer } from './transfer.ts'

let chain: StillChain

beforeAll(async () => {
  chain = await startStillChain()
})
afterAll(() => chain.stop())
afterEach(() => chain.client.setAutomine(true))

type X402Payment = Awaited<ReturnType<typeof newPayment>>['tender']

async function fundedKey(): Promise<Hex> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await chain.client.setBalance({ address, value: 10n ** 20n })
  return key
}

async function payments(count: number): Promise<X402Payment[]> {
  const tenders: X402Payment[] = []
  for (let made = 0; made < count; made += 1) tenders.push((await newPayment(chain)).tender)
  return tenders
}

const send = (by: Chain, tender: X402Payment, withinMs = 10_000) =>
  sendTransfer(by, transferOf(tender), { withinMs, onWasted: () => {} })

async function expectEachPaidOnce(tenders: readonly X402Payment[]): Promise<void> {
  for (const { payer, payTo } of tenders) {
    expect(await chain.transfers(payer, payTo)).toMatchObject([{ value: price }])
  }
}

/** Makes a block every 40 ms until the work has ended. */
async function miningDuring<T>(work: Promise<T>): Promise<T> {
  let hasEnded = false
  const done = work.finally(() => {
    hasEnded = true
  })
  while (!hasEnded) {
    await new Promise((resolve) => setTimeout(resolve, 40))
    await chain.mine()
  }
  return done
}

/** Two processes that hold the same key, each of which sends twenty payments at once. */
async function sendFromTwo(): Promise<{ tenders: X402Payment[]; sent: Sent[]; key: Hex }> {
  const key = await fundedKey()
  const senders = [chain.open(key), chain.open(key)]
  const tenders = await payments(40)
  const sending = Promise.all(
    tenders.map((tender, index) => send(senders[index % 2] as Chain, tender)),
  )
  return { tenders, sent: await miningDuring(sending), key }
}

const countOf = (key: Hex, blockTag: 'latest' | 'pending' = 'latest') =>
  chain.client.getTransactionCount({ address: privateKeyToAccount(key).address, blockTag })

/** The transaction that the node would put into a block first. */
async function waiting() {
  const { pending } = await chain.client.getTxpoolContent()
  return Object.values(Object.values(pending)[0] ?? {})[0]
}

test('two processes with one key send twenty payments each, and each lands once', async () => {
  const { tenders, sent, key } = await sendFromTwo()
  expect(sent.filter(({ receipt }) => receipt?.status !== 'success')).toEqual([])
  await expectEachPaidOnce(tenders)
  expect(await countOf(key)).toBe(40)
})

test('a transaction that no block takes is sent again in its place for a higher fee', async () => {
  const key = await fundedKey()
  const [tender] = (await payments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const sending = send(chain.open(key), tender, 1_800)
  const fees = new Set<bigint>()
  await until(async () => {
    const fee = (await waiting())?.maxFeePerGas
    if (fee) fees.add(BigInt(fee))
    return fees.size > 1
  })
  await chain.mine()
  const { hash, receipt } = await sending
  expect(receipt?.status).toBe('success')
  expect(await countOf(key)).toBe(1)
  expect(await chain.transfers(tender.payer, tender.payTo)).toEqual([
    { value: price, transaction: hash },
  ])
  const [first = 0n, second = 0n] = [...fees]
  expect(second * 10n).toBeGreaterThanOrEqual(first * 11n)
})

test('a transaction that the node has dropped is sent again', async () => {
  const key = await fundedKey()
  const [tender] = (await payments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const sending = send(chain.open(key), tender, 1_800)
  await until(async () => (await waiting()) !== undefined)
  const dropped = (await waiting())?.hash
  await chain.client.dropTransaction({ hash: dropped as Hex })
  await until(async () => (await waiting()) !== undefined)
  await chain.mine()
  expect((await sending).hash).not.toBe(dropped)
  await expectEachPaidOnce([tender])
})

test('a transaction whose place another process has taken is sent again in another one', async () => {
  const key = await fundedKey()
  const [tender] = (await payments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const sending = send(chain.open(key), tender, 1_800)
  await until(async () => (await waiting()) !== undefined)
  const account = privateKeyToAccount(key)
  const more = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n }
  await chain.client.sendTransaction({ account, to: account.address, nonce: 0, ...more })
  await chain.mine()
  expect(await chain.transfers(tender.payer, tender.payTo)).toEqual([])
  await until(async () => (await waiting()) !== undefined)
  await chain.mine()
  expect(await sending).toMatchObject({ receipt: { status: 'success' } })
  await expectEachPaidOnce([tender])
})

test('a transaction of another process that is stuck is replaced, and holds nobody up', async () => {
  const key = await fundedKey()
  const [tender] = (await payments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const account = privateKeyToAccount(key)
  // It pays three times the present fee and is still in no block, as if the node had forgotten it.
  const { maxFeePerGas, maxPriorityFeePerGas } = await chain.client.estimateFeesPerGas()
  const more = {
    maxFeePerGas: maxFeePerGas * 3n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 3n,
  }
  await chain.client.sendTransaction({ account, to: account.address, nonce: 0, ...more })
  const sending = send(chain.open(key), tender, 1_800)
  await until(async () => (await waiting())?.to === chain.usdc.toLowerCase())
  await chain.mine()
  expect(await sending).toMatchObject({ receipt: { status: 'success' } })
  await expectEachPaidOnce([tender])
})

test('two of one process that wait for the same block leave each other their places', async () => {
  const key = await fundedKey()
  const by = chain.open(key)
  const tenders = await payments(2)
  await chain.client.setAutomine(false)
  let hasEnded = false
  const sending = Promise.all(tenders.map((tender) => send(by, tender, 1_800))).finally(() => {
    hasEnded = true
  })
  const firstCalls = new Set<string>()
  await until(async () => {
    const first = await waiting()
    if (first) firstCalls.add(first.input)
    return hasEnded
  })
  await sending
  expect(firstCalls.size).toBe(1)
  await chain.mine()
  await expectEachPaidOnce(tenders)
  expect(await countOf(key)).toBe(2)
})

test('a transaction that is in no block at the end may still land: that is no failure', async () => {
  const [tender] = (await payments(1)) as [X402Payment]
  await chain.client.setAutomine(false)
  const { receipt } = await send(chain.open(await fundedKey()), tender, 200)
  expect(receipt).toBeUndefined()
  await chain.mine()
  await expectEachPaidOnce([tender])
})

test('a payment that the token refuses costs nothing', async () => {
  const key = await fundedKey()
  const [tender] = (await payments(1)) as [X402Payment]
  const by = chain.open(key)
  await send(by, tender)
  await expect(send(by, tender)).rejects.toThrow(/used or canceled/)
  expect(await countOf(key)).toBe(1)
})

test('numbers that are in use are not given again, and the node decides when none is', async () => {
  const state = { counted: 7 }
  const nonces = accountNonces(() => Promise.resolve(state.counted))
  expect(await Promise.all([nonces.take(), nonces.take(), nonces.take()])).toEqual([7, 8, 9])
  nonces.giveBack(8)
  expect(await nonces.take()).toBe(8)
  nonces.yieldTo(8)
  expect([nonces.isOurs(7), nonces.isOurs(8), nonces.isOurs(10)]).toEqual([true, false, false])
  expect(await nonces.take()).toBe(10)
  for (const nonce of [7, 9, 10]) nonces.giveBack(nonce)
  // A reorganisation has dropped transactions that were counted before.
  state.counted = 5
  expect(await nonces.take()).toBe(5)
})

async function until(met: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000
  while (!(await met())) {
    if (performance.now() > deadline) throw new Error('It did not come to that.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

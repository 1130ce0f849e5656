import { describe, expect, test } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import { networks } from '../../payments/networks.ts'
import {
  anyReceipt,
  landedPayment,
  newPayment,
  nodeBefore,
  price,
  receiptIn,
  startStillChain,
  type Tamper,
} from './chain.fixture.ts'

// Nodes that are down, lag or lie: nothing follows from what one of them does not show.

const chain = await startStillChain()
const own = await nodeBefore(chain.rpcUrl)
const witness = await nodeBefore(chain.rpcUrl)
/** After every authorization expired, so that nothing is sent any more. */
const later = () => new Date(Date.now() + 30 * 86_400_000)
const large = 100_000_000n

const connect = (urls: readonly string[], now?: () => Date) =>
  chain.connect({ rpcUrl: own.url, witnesses: { urls, fromUsdc: 100 } }, now)

const silent: Tamper = () => 'silence'

/** Shows no transaction and no log, and says that every nonce is unused. */
const hiding: Tamper = (method) => {
  if (method === 'eth_getLogs') return { result: [] }
  if (method === 'eth_getTransactionReceipt') return { result: null }
  return method === 'eth_call' ? { result: `0x${'0'.repeat(64)}` } : undefined
}

/** Knows no block after this one. */
function laggingAt(block: bigint): Tamper {
  const number = `0x${block.toString(16)}`
  return async (method, params) => {
    if (method === 'eth_blockNumber') return { result: number }
    if (method === 'eth_getBlockByNumber' && typeof params[0] === 'string') {
      const result = await chain.client.request({ method, params: [number, false] } as never)
      return { result }
    }
    return hiding(method, params)
  }
}

const unknown = { outcome: 'unknown' }

test('a payment that never landed has failed when every witness says so, and stays unknown until then', async () => {
  const { payment } = await newPayment(chain)
  const head = await chain.client.getBlockNumber()
  await chain.passTime(400)
  const dead = { outcome: 'failed', code: 'authorization_expired' }
  const alone = connect([], later).x402
  expect(await alone.collect(payment)).toMatchObject(dead)
  own.tamper(laggingAt(head))
  expect(await alone.collect(payment)).toMatchObject(unknown)
  own.tamper()
  const { x402 } = connect([chain.rpcUrl, witness.url], later)
  for (const tamper of [silent, laggingAt(head)]) {
    witness.tamper(tamper)
    expect(await x402.collect(payment)).toMatchObject(unknown)
  }
  witness.tamper()
  expect(await x402.collect(payment)).toMatchObject(dead)
})

test('a large payment is not taken while no witness answers, is up to date and shows what bears it out', async () => {
  const big = await newPayment(chain, { amount: large })
  const small = await newPayment(chain, { amount: large - 1n })
  const { timestamp } = await chain.client.getBlock()
  const stopped: Tamper = async (method, params) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    const block = (await chain.client.request({ method, params } as never)) as object
    return { result: { ...block, timestamp: `0x${(timestamp - 10n ** 6n).toString(16)}` } }
  }
  const noReceipts: Tamper = (method) =>
    method === 'eth_getTransactionReceipt' ? { result: null } : undefined
  const noLogs: Tamper = (method) => (method === 'eth_getLogs' ? { status: 403 } : undefined)
  const noSafe: Tamper = (_, [tag]) => (tag === 'safe' ? { result: null } : undefined)
  for (const tamper of [silent, stopped, noReceipts, noLogs, noSafe]) {
    const { x402, maxBorneOut } = connect([witness.url])
    witness.tamper(tamper)
    expect(await maxBorneOut()).toBe(large - 1n)
    expect(await x402.check(big.payment)).toMatchObject({ outcome: 'unknown', charged: 'no' })
    expect(await x402.check(small.payment)).toMatchObject({ outcome: 'good' })
  }
  witness.tamper()
  for (const urls of [[witness.url], ['http://127.0.0.1:1', witness.url], []]) {
    const { x402, maxBorneOut } = connect(urls)
    expect(await maxBorneOut()).toBeUndefined()
    expect(await x402.check(big.payment)).toMatchObject({ outcome: 'good' })
  }
})

test('a witness that never answers is given up after a while, and is as one that is away', async () => {
  const { maxBorneOut } = connect([witness.url])
  const askedBefore = witness.calls.length
  witness.tamper(() => new Promise(() => undefined))
  expect(await maxBorneOut()).toBe(large - 1n)
  // By then, no call has timed out and been repeated.
  expect(witness.calls.slice(askedBefore)).toEqual(Array(2).fill('eth_getBlockByNumber'))
})

test('a witness whose newest block is behind its own safe one bears nothing out', async () => {
  await chain.mine(2)
  const { number } = await chain.client.getBlock({ blockTag: 'safe' })
  witness.tamper(async (method, [tag]) => {
    if (method !== 'eth_getBlockByNumber' || tag !== 'latest') return undefined
    const newest = await chain.client.request({ method, params: [tag, false] } as never)
    return { result: { ...(newest as object), number: `0x${(number - 1n).toString(16)}` } }
  })
  expect(await connect([witness.url]).maxBorneOut()).toBe(large - 1n)
  witness.tamper()
  expect(await connect([witness.url]).maxBorneOut()).toBeUndefined()
})

describe('a payment that has landed', () => {
  const alone = connect([], later).x402
  const { x402 } = connect([witness.url], later)
  const landed = (amount: bigint = price) => landedPayment(chain, { amount })

  test('has not failed because our node hides it, or shows its nonce used and not where', async () => {
    const { payment, receipt } = await landed()
    await chain.passTime(400)
    own.tamper(hiding)
    expect(await alone.collect(payment)).toMatchObject({ outcome: 'failed' })
    expect(await x402.collect(payment)).toMatchObject(unknown)
    own.tamper((method) => (method === 'eth_getLogs' ? { result: [] } : undefined))
    expect(await alone.collect(payment)).toMatchObject(unknown)
    own.tamper()
    expect(await x402.collect(payment)).toEqual({ outcome: 'settled', receipt })
  })

  test('is settled by one node below the limit, and from the limit on by two, right after it was sent too', async () => {
    const small = await landed(large - 1n)
    const big = await newPayment(chain, { amount: large })
    const now = connect([witness.url]).x402
    for (const tamper of [silent, hiding]) {
      witness.tamper(tamper)
      expect(await x402.collect(small.payment)).toMatchObject({ outcome: 'settled' })
      expect(await now.collect(big.payment)).toMatchObject(unknown)
      expect(await x402.collect(big.payment)).toMatchObject(unknown)
    }
    witness.tamper()
    expect(await now.collect(big.payment)).toMatchObject({ outcome: 'settled' })
    expect(await x402.collect(big.payment)).toMatchObject({ outcome: 'settled' })
    expect(await chain.transfers(big.payer, chain.keys.payTo)).toHaveLength(1)
  })

  test('is gone only when every node misses it, none of which lags', async () => {
    const { payment, receipt } = await landed()
    const behind = laggingAt(BigInt(receipt.block) - 1n)
    own.tamper(hiding)
    expect(await alone.confirmationOf(payment, receipt)).toBe('gone')
    for (const [tamper, confirmation] of [
      [() => undefined, 'unknown'],
      [silent, 'unknown'],
      [behind, 'unknown'],
      [hiding, 'gone'],
    ] as const) {
      witness.tamper(tamper)
      expect(await x402.confirmationOf(payment, receipt)).toBe(confirmation)
    }
    own.tamper(behind)
    expect(await alone.confirmationOf(payment, receipt)).toBe('not_yet')
    own.tamper(silent)
    expect(await alone.confirmationOf(payment, receipt)).toBe('unknown')
    // It learns of the block between two answers.
    let asked = false
    own.tamper((method, params) => {
      if (method === 'eth_getTransactionReceipt') asked = true
      return asked && method !== 'eth_getTransactionReceipt' ? undefined : behind(method, params)
    })
    expect(await alone.confirmationOf(payment, receipt)).toBe('not_yet')
  })

  test('is final from the limit on only when a witness shows it in a safe block', async () => {
    const small = await landed()
    const big = await landed(large)
    await chain.mine()
    witness.tamper(silent)
    expect(await x402.confirmationOf(small.payment, small.receipt)).toBe('final')
    expect(await x402.confirmationOf(big.payment, big.receipt)).toBe('not_yet')
    witness.tamper()
    expect(await x402.confirmationOf(big.payment, big.receipt)).toBe('final')
  })
})

test('a refund is paid when a witness shows it in a safe block too, whatever its amount', async () => {
  const { payment, payer } = await newPayment(chain)
  const { x402 } = connect([witness.url])
  const signed = await x402.signRefund({ reference: newOrderId(), payment, since: anyReceipt })
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  const head = await chain.client.getBlockNumber()
  await chain.mine()
  for (const tamper of [silent, hiding, laggingAt(head - 1n)]) {
    witness.tamper(tamper)
    expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  }
  witness.tamper()
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'paid' })
  expect(await chain.transfers(chain.refundWallet, payer)).toHaveLength(1)
})

test('a refund has not lapsed because our node hides that it was paid', async () => {
  const { payment } = await newPayment(chain)
  const { x402 } = connect([witness.url])
  const signed = await x402.signRefund({ reference: newOrderId(), payment, since: anyReceipt })
  await x402.payBack(signed)
  await chain.passTime(25 * 3_600)
  own.tamper(hiding)
  expect(await connect([]).x402.payBack(signed)).toMatchObject({ outcome: 'lapsed' })
  expect(await x402.payBack(signed)).not.toMatchObject({ outcome: 'lapsed' })
})

test('a safe height that another machine behind the same address tells proves neither payment nor refund', async () => {
  const { payment } = await newPayment(chain)
  const { x402 } = connect([])
  const receipt = receiptIn(await x402.collect(payment))
  const signed = await x402.signRefund({ reference: newOrderId(), payment, since: receipt })
  const check = async (confirmation: string, outcome: string) => {
    expect(await x402.confirmationOf(payment, receipt)).toBe(confirmation)
    expect(await x402.payBack(signed)).toMatchObject({ outcome })
  }
  // Our node returns its newest block as the safe one; its logs up to `safe` are as before.
  own.tamper(async (method, params) =>
    method === 'eth_getBlockByNumber' && params[0] === 'safe'
      ? { result: await chain.client.request({ method, params: ['latest', false] } as never) }
      : undefined,
  )
  await check('not_yet', 'pending')
  await chain.mine()
  own.tamper()
  await chain.mine()
  await check('final', 'paid')
})

describe('at the start', () => {
  const problems = (isForMoney = false) => connect([chain.rpcUrl, witness.url]).problems(isForMoney)

  test('a witness of another chain is named by its place, and a silent one is not', async () => {
    expect(await problems()).toEqual([])
    witness.tamper((method) => (method === 'eth_chainId' ? { result: '0x1' } : undefined))
    expect(await problems()).toEqual([
      'RPC_WITNESS_URLS: of number 2, it serves chain 1, and Base Sepolia is 84532',
    ])
    witness.tamper(silent)
    expect(await problems()).toEqual([])
  })

  test('a network whose USDC has another EIP-712 domain is refused', async () => {
    const usdcDomain = { name: 'USD Coin', version: '2' }
    const other = { ...networks['base-sepolia'], usdcDomain }
    expect(await chain.connect({ network: other }).problems(false)).toEqual([
      `RPC_URL: its USDC at ${other.usdc} has another EIP-712 domain than src/payments/networks.ts gives for Base Sepolia`,
    ])
  })

  test('a provider that does not name its program is looked at all the same', async () => {
    const error = { code: -32_601, message: 'the method web3_clientVersion does not exist' }
    own.tamper((method) => (method === 'web3_clientVersion' ? { error } : undefined))
    const usdcDomain = { name: 'USD Coin', version: '2' }
    const network = { ...networks['base-sepolia'], usdcDomain }
    expect(await chain.connect({ network, rpcUrl: own.url }).problems(true)).toEqual([
      expect.stringContaining('has another EIP-712 domain'),
    ])
  })

  test('a development node bears nothing out in live mode', async () => {
    expect(await problems(true)).toEqual([
      expect.stringMatching(/^RPC_URL: it is a development node/),
      expect.stringMatching(/^RPC_WITNESS_URLS: of number 1, it is a development node/),
      expect.stringMatching(/^RPC_WITNESS_URLS: of number 2, it is a development node/),
    ])
  })
})

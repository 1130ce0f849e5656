import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { beforeEach, describe, expect, test } from 'vitest'
import { blacklist, emptyWallet, pause, unBlacklist, unpause } from '../../../test/stories/chain.ts'
import {
  deploy,
  hungryCode,
  partialCode,
  walletCode,
} from '../../../test/stories/contracts/wallet.ts'
import type { X402Method } from '../../payments/payment.ts'
import { cancel, newPayment, nodeBefore, price, startStillChain } from './chain.fixture.ts'

// What the store says about a payment when the node does not answer, or cannot be believed.

const chain = await startStillChain()
const node = await nodeBefore(chain.rpcUrl)
let x402: X402Method

beforeEach(async () => {
  await chain.mine()
  x402 = chain.connect({ rpcUrl: node.url }).x402
})

/** A payment of a smart wallet: only the node can tell whether its code accepts the signature. */
async function walletPayment() {
  const owner = privateKeyToAccount(generatePrivateKey())
  return newPayment(chain, { owner, payer: await deploy(chain, walletCode(owner.address)) })
}

const payments = { plain: () => newPayment(chain), wallet: walletPayment } as const

/** All calls that are made about a payment. */
const questions = [
  ['plain', 'eth_estimateGas'],
  ['plain', 'eth_getBlockByNumber'],
  ['wallet', 'eth_getCode'],
  ['wallet', 'eth_call'],
  ['wallet', 'eth_estimateGas'],
] as const

describe('a node that does not answer a question is no reason to refuse a payment', () => {
  test.each(['plain', 'wallet'] as const)('a good payment is good: %s', async (kind) => {
    const { payment } = await payments[kind]()
    expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test.each(questions)('%s, %s', async (kind, silent) => {
    const { payment } = await payments[kind]()
    node.tamper((method) => (method === silent ? 'silence' : undefined))
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
    expect(node.calls).toContain(silent)
    node.tamper()
    expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test.each([
    ['of its own', -32_603, 'Internal error'],
    ['too many questions', -32_005, 'limit exceeded'],
    ['no resources', -32_002, 'resource unavailable'],
  ])('an error: %s', async (_, code, message) => {
    for (const [kind, failing] of questions) {
      // A connection of its own, because the newest block is shared for a second.
      x402 = chain.connect({ rpcUrl: node.url }).x402
      const { payment } = await payments[kind]()
      node.tamper((method) => (method === failing ? { error: { code, message } } : undefined))
      expect(await x402.check(payment), failing).toMatchObject({ outcome: 'unknown' })
    }
  })

  test('one silence among answers is enough', async () => {
    const { payment } = await walletPayment()
    for (const which of [1, 2]) {
      let asked = 0
      // The transport repeats a failed call once, so both have to fail.
      node.tamper((method, params) => {
        const isPayer = String(params[0]).toLowerCase() === payment.payer.toLowerCase()
        if (method !== 'eth_getCode' || !isPayer) return undefined
        asked += 1
        return asked === which || asked === which + 1 ? 'silence' : undefined
      })
      expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
    }
  })
})

describe('a payment that its payer signed with a key of his own', () => {
  test('takes one question to the node', async () => {
    const first = await newPayment(chain)
    await x402.check(first.payment)
    const { payment } = await newPayment(chain)
    node.calls.length = 0
    expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
    expect(node.calls).toEqual(['eth_estimateGas'])
  })

  test('is refused when another key has signed it, whatever a node says of it', async () => {
    const { payment } = await newPayment(chain)
    const other = await newPayment(chain)
    const forged = { ...payment, signature: other.payment.signature }
    node.tamper((method) => (method === 'eth_estimateGas' ? { result: '0x15f90' } : undefined))
    expect(await x402.check(forged)).toMatchObject({ outcome: 'bad', code: 'bad_signature' })
  })

  test('is unknown when a node refuses it and then agrees: no code of a wallet can have done that', async () => {
    const { payment } = await newPayment(chain)
    const refusal = { error: { code: 3, message: 'execution reverted', data: '0x' } }
    let simulated = 0
    node.tamper((method) => {
      if (method === 'eth_call') simulated += 1
      return method === 'eth_estimateGas' || (method === 'eth_call' && simulated === 1)
        ? refusal
        : undefined
    })
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
    expect(simulated).toBeGreaterThan(1)
  })

  test('is refused for what the token finds, in the words for that', async () => {
    const { owner, payment } = await newPayment(chain)
    const { client, usdc: token, keys } = chain
    await client.setBalance({ address: owner.address, value: 10n ** 18n })
    const hash = await client.writeContract({
      ...{ account: owner, address: token, abi: erc20Abi },
      ...{ functionName: 'transfer', args: [keys.payTo as Hex, 1n] },
    })
    await client.waitForTransactionReceipt({ hash })
    const refused = { outcome: 'bad', code: 'insufficient_balance' }
    expect(await x402.check(payment)).toMatchObject(refused)
  })
})

test('a settlement that is reverted, because the money moved meanwhile, is no failure', async () => {
  const key = generatePrivateKey()
  const elsewhere = privateKeyToAddress(generatePrivateKey())
  const { payment, payer } = await newPayment(chain, { owner: privateKeyToAccount(key) })
  let emptied: Promise<void> | undefined
  node.tamper(async (method) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    emptied ??= emptyWallet(chain, key, elsewhere)
    await emptied
    return undefined
  })
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown', wasted: 1 })
  expect(await chain.transfers(payer, payment.payTo)).toEqual([])
  await chain.mintTo(payer, price)
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'settled' })
  expect(await chain.transfers(payer, payment.payTo)).toMatchObject([{ value: price }])
})

describe('a wallet whose code does not say the same to everybody is refused, and no node is at fault', () => {
  test.each([
    ['needs 4.4 million gas', (owner: Hex) => hungryCode(owner, 4_400_000)],
    ['agrees to all but the token', (owner: Hex) => partialCode(owner, chain.usdc as Hex, false)],
  ])('it %s', async (_, codeOf) => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const payer = await deploy(chain, codeOf(owner.address))
    const { payment } = await newPayment(chain, { owner, payer })
    expect(await x402.check(payment)).toMatchObject({ outcome: 'bad' })
  })
})

describe('what Circle may do to the token', () => {
  const store = () => chain.keys.payTo as Hex

  test.each([
    ['paused', () => pause(chain), () => unpause(chain)],
    ['closed to the store', () => blacklist(chain, store()), () => unBlacklist(chain, store())],
  ])('while it is %s no payment is bad, and it is good afterwards', async (_, close, open) => {
    const { payment } = await newPayment(chain)
    await close()
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
    await open()
    expect(await chain.connect().x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test('a payer whom it has blacklisted is refused', async () => {
    const { payment, payer } = await newPayment(chain)
    await blacklist(chain, payer)
    expect(await x402.check(payment)).toMatchObject({ outcome: 'bad', code: 'would_fail' })
  })
})

describe('the age of the newest block', () => {
  test('a payment is not judged by a chain that has stopped, nor is a bad one called bad', async () => {
    const { payment } = await newPayment(chain)
    const { timestamp } = await chain.client.getBlock()
    const railAt = (age: number) =>
      chain.connect({}, () => new Date((Number(timestamp) + age) * 1_000)).x402
    expect(await railAt(90).check(payment)).toMatchObject({ outcome: 'good' })
    const stopped = railAt(91)
    const reason = 'The newest block is 91 s old.'
    const unknown = { outcome: 'unknown', reason, charged: 'unknown' }
    expect(await stopped.check(payment)).toEqual(unknown)
    const forged = { ...payment, signature: `0x${'11'.repeat(64)}1b` }
    expect(await stopped.check(forged)).toEqual(unknown)
    expect(await x402.check(forged)).toMatchObject({ code: 'bad_signature' })
  })
})

describe('a nonce that is used', () => {
  test('is this payment itself when somebody else has submitted it', async () => {
    const { payment } = await newPayment(chain)
    await chain.connect().x402.collect(payment)
    expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test('is refused when it is shown what for', async () => {
    const payment = await newPayment(chain)
    await cancel(chain, payment)
    const refused = { outcome: 'bad', code: 'nonce_used' }
    expect(await x402.check(payment.payment)).toMatchObject(refused)
    await chain.mine()
    expect(await x402.check(payment.payment)).toMatchObject(refused)
  })

  test('is not refused while the logs are behind the state', async () => {
    const { payment } = await newPayment(chain)
    await chain.connect().x402.collect(payment)
    node.tamper((method) => (method === 'eth_getLogs' ? { result: [] } : undefined))
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
  })
})

describe('whether an authorization was used', () => {
  test('is one question, whose answer is believed of a node that is not behind', async () => {
    const { payment } = await newPayment(chain)
    await chain.mine()
    node.calls.length = 0
    expect(await x402.isUnused(payment)).toBe(true)
    expect(node.calls).toEqual(['eth_getBlockByNumber', 'eth_call'])
    await chain.connect().x402.collect(payment)
    expect(await chain.connect().x402.isUnused(payment)).toBe(false)
  })

  test('is not told by a node that has stood still', async () => {
    const { payment } = await newPayment(chain)
    await chain.mine()
    const { timestamp } = await chain.client.getBlock()
    const now = () => new Date((Number(timestamp) + 3_600) * 1_000)
    expect(await chain.connect({ rpcUrl: node.url }, now).x402.isUnused(payment)).toBe(false)
  })

  test.each(['eth_call', 'eth_getBlockByNumber'])('is not told without %s', async (silent) => {
    const { payment } = await newPayment(chain)
    node.tamper((method) => (method === silent ? 'silence' : undefined))
    expect(await x402.isUnused(payment)).toBe(false)
  })

  test.each([
    ['that cannot be read', `0x${'00'.repeat(31)}20${'6492'.repeat(16)}`],
    ['that does not fit', `0x${'11'.repeat(64)}1b`],
  ])('decides whether a payment with a signature %s is refused', async (_, signature) => {
    const { payment } = await walletPayment()
    const broken = { ...payment, signature }
    expect(await x402.check(broken)).toMatchObject({ outcome: 'bad', code: 'bad_signature' })
    await chain.connect().x402.collect(payment)
    const after = chain.connect({ rpcUrl: node.url }).x402
    expect(await after.check(broken)).toMatchObject({ outcome: 'unknown', charged: 'unknown' })
    expect(await after.check(payment)).toMatchObject({ outcome: 'good', hasLanded: true })
  })
})

describe('an authorization whose time is over', () => {
  const at = (validBefore: number, seconds: number) => () =>
    new Date((validBefore + seconds) * 1_000)
  const x402After = (payment: { validBefore: number }, seconds: number) =>
    chain.connect({ rpcUrl: node.url, maxHeadSeconds: 10 ** 9 }, at(payment.validBefore, seconds))
      .x402

  test('has paid where the chain shows it, for an hour', async () => {
    const { payment, payer } = await newPayment(chain)
    const paid = await chain.connect().x402.collect(payment)
    for (const seconds of [-20, 1, 3_500]) {
      const late = x402After(payment, seconds)
      const checked = await late.check(payment)
      if (checked.outcome !== 'good') throw new Error(JSON.stringify(checked))
      expect(await late.collect(checked.payment)).toEqual(paid)
    }
    const unknown = { outcome: 'unknown', charged: 'unknown' }
    expect(await x402After(payment, 3_700).check(payment)).toMatchObject(unknown)
    expect(await chain.transfers(payer, chain.keys.payTo)).toHaveLength(1)
  })

  test('has paid as well where the code of a smart wallet says that it signed', async () => {
    const { payment } = await walletPayment()
    await chain.connect().x402.collect(payment)
    expect(await x402After(payment, 1).check(payment)).toMatchObject({ outcome: 'good' })
    const unknown = { outcome: 'unknown', charged: 'unknown' }
    for (const other of [await newPayment(chain), await walletPayment()]) {
      const forged = { ...payment, signature: other.payment.signature }
      node.calls.length = 0
      expect(await x402After(payment, 1).check(forged)).toMatchObject(unknown)
      expect(node.calls).not.toContain('eth_getLogs')
    }
    node.tamper((method) => (method === 'eth_call' ? 'silence' : undefined))
    expect(await x402After(payment, 1).check(payment)).toMatchObject(unknown)
  })

  test('is called expired only when a safe block proves that it paid nothing', async () => {
    const { payment } = await newPayment(chain)
    const x402 = x402After(payment, 5)
    const unknown = { outcome: 'unknown', charged: 'unknown' }
    expect(await x402.check(payment)).toMatchObject(unknown)
    await chain.client.increaseTime({ seconds: 310 })
    await chain.mine()
    expect(await x402.check(payment)).toMatchObject(unknown)
    await chain.mine()
    expect(await x402.check(payment)).toMatchObject({ outcome: 'bad', code: 'expired' })
  })

  test('and ends within half a minute, unused: is refused at once', async () => {
    const { payment } = await newPayment(chain)
    const refused = {
      outcome: 'bad',
      code: 'expired',
      reason: expect.stringMatching(/ 29 s; .* 30 s/),
    }
    expect(await x402After(payment, -29.5).check(payment)).toMatchObject(refused)
    expect(await x402After(payment, -31).check(payment)).toMatchObject({ outcome: 'good' })
  })

  test('was cancelled: is told so', async () => {
    const payment = await newPayment(chain)
    await cancel(chain, payment)
    const refused = { outcome: 'bad', code: 'nonce_used' }
    expect(await x402After(payment.payment, 60).check(payment.payment)).toMatchObject(refused)
  })
})

test('of twenty payments with the money of one, sent at once by three nodes, at most three are reverted', async () => {
  const nodes = [chain.connect(), chain.connect(), chain.connect()]
  const first = await newPayment(chain)
  const payments = [first.payment]
  while (payments.length < 20) {
    payments.push((await newPayment(chain, { owner: first.owner, minted: 0n })).payment)
  }
  const before = await chain.sentByUs()
  await Promise.all(payments.map((payment, at) => nodes[at % 3]?.x402.collect(payment)))
  expect(await chain.transfers(first.payer, chain.keys.payTo)).toHaveLength(1)
  expect((await chain.sentByUs()) - before - 1).toBeLessThanOrEqual(3)
})

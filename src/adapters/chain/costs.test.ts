import {
  concatHex,
  getContractAddress,
  type Hex,
  numberToHex,
  parseErc6492Signature,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, test } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import {
  burning,
  burningAllInBlocks,
  burningCode,
  deploy,
  deploying,
  greedyCode,
  walletCode,
} from '../../../test/stories/contracts/wallet.ts'
import { anyReceipt, newPayment, price, startStillChain } from './chain.fixture.ts'
import { ownFacilitator } from './facilitator.ts'
import { gasOf, maxSettlementGas, sendTransfer, transferOf } from './token.ts'

// What a payer can make us spend: the signature check of a contract wallet costs what its code decides.

const chain = await startStillChain()
const { x402 } = chain.connect()

const newOwner = () => privateKeyToAccount(generatePrivateKey())
const paid = (payer: string) => chain.transfers(payer, chain.keys.payTo)

/** A payment of a deployed smart wallet with this code. */
async function paymentOf(codeOf: (owner: Hex) => Hex) {
  const owner = newOwner()
  const payer = await deploy(chain, codeOf(owner.address))
  return newPayment(chain, { owner, payer })
}

test('a wallet that costs as much as the common ones pays', async () => {
  const { payment, payer } = await paymentOf((owner) => burningCode(owner, 250_000))
  expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'settled' })
  expect(await paid(payer)).toHaveLength(1)
})

test('what the gas wallet is measured by is the moment’s fee, with room for one resend', async () => {
  const { gas, facts } = chain.connect()
  const most = 10n ** 16n
  const { maxFeePerGas } = await chain.open().fees()
  const balance = await chain.client.getBalance({ address: chain.gasWallet })
  const settlement = { cost: 105_000n * maxFeePerGas, most }
  expect(await gas()).toEqual({ balance, perTransfer: 150_000n * maxFeePerGas, settlement })
  const { timestamp } = await chain.client.getBlock()
  expect(await facts()).toMatchObject({
    gasWei: balance,
    headAt: new Date(Number(timestamp) * 1_000),
  })
})

test.each([
  ['half a million', 500_000, 'too_costly'],
  ['millions', 2_300_000, 'too_costly'],
  // This is above the limit of a simulation, and a signature that cannot be checked is not valid.
  ['more than a simulation may', 9_000_000, 'bad_signature'],
])('a wallet that burns %s is refused, and nothing is sent for it', async (_, gas, code) => {
  const { payment } = await paymentOf((owner) => burningCode(owner, gas))
  const before = await chain.sentByUs()
  expect(await x402.check(payment)).toMatchObject({ outcome: 'bad', code })
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown' })
  expect(await chain.sentByUs()).toBe(before)
})

test('a wallet that is cheap in every estimate costs the limit at most, and is told apart', async () => {
  const { payment, payer } = await paymentOf(greedyCode)
  const before = await chain.sentByUs()
  expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  // The order decides how often a reverted payment is sent again.
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown', wasted: 1 })
  expect(await x402.collect(payment, { onlyLooks: true })).toMatchObject({ outcome: 'unknown' })
  expect(await chain.sentByUs()).toBe(before + 1)
  const { transactions } = await chain.client.getBlock({ includeTransactions: true })
  const [{ from, gas } = { from: undefined, gas: 0n }] = transactions
  expect(from).toBe(chain.gasWallet.toLowerCase())
  expect(gas).toBeLessThanOrEqual(maxSettlementGas)
  expect(await paid(payer)).toEqual([])
})

/** The CREATE2 factory that anvil, like Base, has at this address. */
const factory = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** A payment of a wallet that this factory would deploy first, at our expense (ERC-6492). */
async function undeployed(codeOf: (owner: Hex) => Hex) {
  const owner = newOwner()
  const salt = numberToHex(0, { size: 32 })
  const bytecode = codeOf(owner.address)
  const payer = getContractAddress({ from: factory, opcode: 'CREATE2', salt, bytecode })
  const { payment } = await newPayment(chain, { owner, payer })
  const data = concatHex([salt, bytecode])
  const signature = payment.signature as Hex
  const wrapped = serializeErc6492Signature({ address: factory, data, signature })
  return { payer, payment: { ...payment, signature: wrapped } }
}

/** Deploys the wallet of a payment, so that the store sends nothing but the payment itself. */
async function deployFor(payment: { readonly signature: string }) {
  const { data } = parseErc6492Signature(payment.signature as Hex)
  const account = privateKeyToAccount(chain.keys.minter)
  const hash = await chain.client.sendTransaction({ account, to: factory, data: data as Hex })
  await chain.client.waitForTransactionReceipt({ hash })
}

test('a wallet of an allowed factory is deployed and pays, also after a reorganisation', async () => {
  const { x402 } = chain.connect({ walletFactories: [factory] })
  const { payment, payer } = await undeployed((owner) => deploying(walletCode(owner)))
  expect(await x402.check(payment)).toMatchObject({ outcome: 'good' })
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'settled' })
  await chain.reorganise(2)
  expect(await paid(payer)).toEqual([])
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'settled' })
  expect(await paid(payer)).toMatchObject([{ value: price }])
})

test('what was sent for a wallet of a factory and dropped again is sent again', async () => {
  const { client } = chain
  const { payment, payer } = await undeployed((owner) => deploying(walletCode(owner)))
  await deployFor(payment)
  await client.setAutomine(false)
  const facilitator = ownFacilitator(chain.open(), [factory], 30)
  const dropped = await facilitator.settle(payment)
  await client.dropTransaction({ hash: dropped.hash as Hex })
  await facilitator.settle(payment)
  await chain.mine()
  await client.setAutomine(true)
  expect(await paid(payer)).toMatchObject([{ value: price }])
})

test.each<[string, (owner: Hex) => Hex, boolean, number]>([
  ['is cheap in every estimate', (owner) => deploying(greedyCode(owner)), true, 1],
  ['is deployed and then reverts', (owner) => deploying(greedyCode(owner)), false, 2],
  ['cannot be deployed', (owner) => deploying(walletCode(owner), burningAllInBlocks), false, 1],
])('each transaction that a wallet wasted counts: it %s', async (_, codeOf, isDeployed, count) => {
  const { x402 } = chain.connect({ walletFactories: [factory] })
  const { payment, payer } = await undeployed(codeOf)
  if (isDeployed) await deployFor(payment)
  const before = await chain.sentByUs()
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown', wasted: count })
  expect(await chain.sentByUs()).toBe(before + count)
  expect(await paid(payer)).toEqual([])
})

test.each([
  ['deployment', (owner: Hex) => deploying(walletCode(owner), burning(1_500_000)), {}],
  // The wallet is deployed before the token calls it, so this one has cost us gas.
  ['signature check', (owner: Hex) => deploying(burningCode(owner, 2_300_000)), { wasted: 1 }],
])(
  'a wallet of an allowed factory whose %s burns gas does not get it paid',
  async (which, codeOf, told) => {
    const { x402 } = chain.connect({ walletFactories: [factory] })
    const { payment, payer } = await undeployed(codeOf)
    if (which === 'deployment') {
      expect(await x402.check(payment)).toMatchObject({ outcome: 'bad', code: 'too_costly' })
    }
    const before = await chain.client.getBalance({ address: chain.gasWallet })
    expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown', ...told })
    const spent = before - (await chain.client.getBalance({ address: chain.gasWallet }))
    const { maxFeePerGas } = await chain.client.estimateFeesPerGas()
    expect(spent).toBeLessThan(1_000_000n * maxFeePerGas)
    expect(await paid(payer)).toEqual([])
  },
)

test('what costs too much is not sent', async () => {
  const { payment } = await paymentOf((owner) => burningCode(owner, 2_300_000))
  const sending = sendTransfer(
    chain.open(),
    { ...payment, from: payment.payer, to: payment.payTo },
    { withinMs: 100 },
  )
  await expect(sending).rejects.toThrow(/would cost 2\d{6} gas/)
})

describe('a network that is dear', () => {
  const oracle = '0x420000000000000000000000000000000000000F'
  const dear = { outcome: 'unknown', charged: 'unknown', isTooCostly: true }
  /** Answers every call with this number. */
  const saying = (wei: bigint) =>
    concatHex(['0x7f', numberToHex(wei, { size: 32 }), '0x5f5260205ff3'])
  const wallet = () => paymentOf((owner) => walletCode(owner))
  const plain = () => newPayment(chain)
  const yetToBeDeployed = () => undeployed((owner) => deploying(walletCode(owner)))

  /** Whether the health of the store says that every payment is refused. */
  async function isSaidToBeDear(gas: ReturnType<typeof chain.connect>['gas']) {
    const { settlement } = await gas()
    return settlement !== undefined && settlement.cost > settlement.most
  }

  test('does not matter to a store whose facilitator pays for the gas', async () => {
    const facilitatorUrl = 'http://127.0.0.1:9'
    expect((await chain.connect({ facilitatorUrl }).gas()).settlement).toBeUndefined()
    const both = chain.connect({ facilitatorUrl, facilitatorEveryMs: 1 })
    expect((await both.gas()).settlement).toBeDefined()
  })

  afterEach(async () => {
    await chain.client.setCode({ address: oracle, bytecode: '0x' })
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
    await chain.mine()
  })

  test.each([
    ['a plain payment', plain],
    ['one of a smart wallet', wallet],
    ['one of a wallet that has yet to be deployed', yetToBeDeployed],
  ])('takes no payment while its gas costs more than a settlement may: %s', async (_, pay) => {
    const { payment } = await pay()
    const before = await chain.sentByUs()
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 12n })
    await chain.mine()
    const { x402, gas } = chain.connect({ walletFactories: [factory] })
    expect(await isSaidToBeDear(gas)).toBe(true)
    expect(await x402.check(payment)).toMatchObject(dear)
    expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown' })
    expect(await chain.sentByUs()).toBe(before)
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
    await chain.mine()
    const later = chain.connect({ walletFactories: [factory] })
    expect(await isSaidToBeDear(later.gas)).toBe(false)
    expect(await later.x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test.each([
    ['a plain payment', plain],
    ['one of a smart wallet', wallet],
  ])('takes only what it then sends, whatever the ceiling: %s', async (_, pay) => {
    const outcomes: string[] = []
    for (const over of [-1_000n, 1_000n, 12_000n, 24_000n, 26_000n]) {
      const { payment } = await pay()
      const asked = chain.open()
      const gas = await gasOf(asked, transferOf(payment))
      const { maxFeePerGas } = await asked.fees()
      const { x402 } = chain.connect({ maxSettlementWei: (gas + over) * maxFeePerGas })
      const checked = await x402.check(payment)
      outcomes.push(checked.outcome)
      if (checked.outcome === 'good') {
        expect(await x402.collect(payment)).toMatchObject({ outcome: 'settled' })
      } else expect(checked).toMatchObject(dear)
    }
    expect(outcomes).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'good'])
  })

  test('counts what a transaction pays for its data on L1', async () => {
    const { payment } = await plain()
    await chain.client.setCode({ address: oracle, bytecode: saying(10n ** 16n) })
    expect(await isSaidToBeDear(chain.connect().gas)).toBe(true)
    expect(await chain.connect().x402.check(payment)).toMatchObject(dear)
    expect(await chain.connect().x402.collect(payment)).toMatchObject({ outcome: 'unknown' })
    await chain.client.setCode({ address: oracle, bytecode: saying(10n ** 10n) })
    expect(await chain.connect().x402.check(payment)).toMatchObject({ outcome: 'good' })
  })

  test('pays no refund until it is cheaper', async () => {
    const { payment } = await plain()
    const signed = await x402.signRefund({ reference: newOrderId(), payment, since: anyReceipt })
    await chain.client.setCode({ address: oracle, bytecode: saying(10n ** 16n) })
    const reason = expect.stringMatching(/fee is higher/)
    expect(await chain.connect().x402.payBack(signed)).toEqual({ outcome: 'pending', reason })
    expect(await chain.transfers(chain.refundWallet, payment.payer)).toEqual([])
    await chain.client.setCode({ address: oracle, bytecode: '0x' })
    await chain.connect().x402.payBack(signed)
    expect(await chain.transfers(chain.refundWallet, payment.payer)).toHaveLength(1)
  })
})

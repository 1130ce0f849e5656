import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeEach, expect, test } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import { blacklist, pause, unBlacklist, unpause } from '../../../test/stories/chain.ts'
import type { X402Method, X402Payment, X402Refund } from '../../payments/payment.ts'
import { anyReceipt, newPayment, nodeBefore, price, startStillChain } from './chain.fixture.ts'

const chain = await startStillChain()
const node = await nodeBefore(chain.rpcUrl)
const { x402 } = chain.connect({ rpcUrl: node.url })

const since = anyReceipt
let payment: X402Payment
let signed: X402Refund

beforeEach(async () => {
  ;({ payment } = await newPayment(chain))
  signed = await x402.signRefund({ reference: newOrderId(), payment, since })
})

const paidBack = ({ from, to } = signed) => chain.transfers(from, to)

/** Paid, once, by this x402. */
async function expectPaid(by: X402Method): Promise<void> {
  expect(await by.payBack(signed)).toMatchObject({ outcome: 'pending' })
  await chain.mine()
  expect(await by.payBack(signed)).toMatchObject({ outcome: 'paid' })
  expect(await paidBack()).toMatchObject([{ value: price }])
}

test('a refund that never left is sent again', async () => {
  node.tamper((method) => (method === 'eth_sendRawTransaction' ? 'silence' : undefined))
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  expect(await paidBack()).toEqual([])
  node.tamper()
  await expectPaid(x402)
})

test('a refund whose answer is lost is found, and not sent again', async () => {
  node.tamper(async (method, params) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    await chain.client.sendRawTransaction({ serializedTransaction: params[0] as Hex })
    return 'silence'
  })
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  await expect.poll(() => paidBack()).toHaveLength(1)
  node.tamper()
  const before = node.calls.filter((method) => method === 'eth_sendRawTransaction').length
  await expectPaid(x402)
  const after = node.calls.filter((method) => method === 'eth_sendRawTransaction').length
  expect(after).toBe(before)
})

test('a refund that two nodes of the store send at once is paid once', async () => {
  const gasKey = generatePrivateKey()
  await chain.client.setBalance({ address: privateKeyToAddress(gasKey), value: 10n ** 18n })
  const other = chain.connect({ gasKey }).x402
  const both = await Promise.all([x402.payBack(signed), other.payBack(signed)])
  for (const { outcome } of both) expect(['pending', 'paid']).toContain(outcome)
  expect(await paidBack()).toHaveLength(1)
})

test('a refund for which there is no gas waits for the operator, and is then paid', async () => {
  const gasKey = generatePrivateKey()
  const { x402: poor } = chain.connect({ gasKey })
  expect(await poor.payBack(signed)).toMatchObject({ outcome: 'blocked', code: 'no_gas' })
  await chain.client.setBalance({ address: privateKeyToAddress(gasKey), value: 10n ** 18n })
  await expectPaid(poor)
})

test('a refund for which there is no money waits for the operator, and is then paid', async () => {
  const refundKey = generatePrivateKey()
  const { x402: poor } = chain.connect({ refundKey })
  signed = await poor.signRefund({ reference: newOrderId(), payment, since })
  const before = await chain.sentByUs()
  expect(await poor.payBack(signed)).toMatchObject({
    outcome: 'blocked',
    code: 'no_float',
    mayStillPay: true,
  })
  expect(await chain.sentByUs()).toBe(before)
  await chain.mintTo(privateKeyToAddress(refundKey), price)
  await expectPaid(poor)
})

/** What Circle may do to a wallet or to the whole token, and how it ends that. */
const closures = {
  token_paused: { close: () => pause(chain), open: () => unpause(chain) },
  payer_blacklisted: {
    close: () => blacklist(chain, signed.to as Hex),
    open: () => unBlacklist(chain, signed.to as Hex),
  },
  wallet_blacklisted: {
    close: () => blacklist(chain, chain.refundWallet),
    open: () => unBlacklist(chain, chain.refundWallet),
  },
}

test.each(Object.entries(closures))(
  'a refund that meets %s waits for the operator, costs no gas, and is then paid',
  async (code, { close, open }) => {
    await close()
    const before = await chain.sentByUs()
    expect(await x402.payBack(signed)).toMatchObject({
      outcome: 'blocked',
      code,
      mayStillPay: true,
    })
    expect(await chain.sentByUs()).toBe(before)
    await open()
    await expectPaid(x402)
  },
)

test('a refund that an earlier wallet has signed waits for that one, and says how long', async () => {
  const refundKey = generatePrivateKey()
  const before = chain.connect({ refundKey }).x402
  signed = await before.signRefund({ reference: newOrderId(), payment, since })
  const paid = await x402.payBack(signed)
  expect(paid).toMatchObject({ outcome: 'blocked', code: 'no_float', mayStillPay: true })
  const until = new Date(signed.validBefore * 1_000).toISOString()
  expect(paid).toHaveProperty('reason', expect.stringContaining(`${signed.from} does not hold`))
  expect(paid).toHaveProperty('reason', expect.stringContaining(until))
  await chain.mintTo(privateKeyToAddress(refundKey), price)
  await expectPaid(x402)
})

test('a refund that an earlier wallet has paid is not paid by the present one, nor the other way round', async () => {
  const keys = [chain.keys.refund, generatePrivateKey()] as const
  await chain.mintTo(privateKeyToAddress(keys[1]), 10n * price)
  const [before, now] = keys.map((refundKey, at) => {
    const earlier = at === 0 ? [] : [privateKeyToAddress(keys[0])]
    return chain.connect({ refundKey }, undefined, earlier).x402
  }) as [X402Method, X402Method]
  const expectPaidOnce = async (first: X402Refund, second: X402Refund) => {
    await now.payBack(first)
    expect(await now.payBack(second)).toMatchObject({ outcome: 'pending' })
    await chain.mine()
    const [transfer] = await chain.transfers(first.from, first.to)
    expect(await now.payBack(second)).toEqual({
      outcome: 'paid',
      transaction: transfer?.transaction,
      gas: { wei: expect.any(BigInt) },
    })
    expect(await chain.transfers(second.from, second.to)).toEqual([])
  }
  const due = () => ({ reference: newOrderId(), payment, since })
  const one = due()
  await expectPaidOnce(await before.signRefund(one), await now.signRefund(one))
  ;({ payment } = await newPayment(chain))
  const other = due()
  await expectPaidOnce(await now.signRefund(other), await before.signRefund(other))
})

test('a refund that ran out unused has lapsed at a safe block, and is signed again', async () => {
  await chain.client.increaseTime({ seconds: 2 * 3_600 })
  await chain.mine()
  expect(await x402.payBack(signed)).not.toMatchObject({ outcome: 'lapsed' })
  await chain.mine()
  expect(await x402.payBack(signed)).toEqual({ outcome: 'lapsed' })
})

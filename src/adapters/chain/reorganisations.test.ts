import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import { cancel, newPayment, price, receiptIn, startStillChain } from './chain.fixture.ts'

// A chain that drops its newest blocks, as it may until they are safe.

const chain = await startStillChain()
const { x402 } = chain.connect()

/** A payment that has just been settled, in the newest block. */
async function settled() {
  const payment = await newPayment(chain)
  const receipt = receiptIn(await x402.collect(payment.payment))
  const confirmation = () => x402.confirmationOf(payment.payment, receipt)
  return { ...payment, receipt, confirmation }
}

const paid = (payer: string) => chain.transfers(payer, chain.keys.payTo)

/** The raw bytes of a transaction, to put it into another block. */
function bytesOf(transaction: string): Promise<Hex> {
  const params = [transaction]
  return chain.client.request({ method: 'eth_getRawTransactionByHash', params } as never)
}

test('a payment whose block is dropped is gone before that height is safe, and comes back', async () => {
  const { payment, payer, confirmation } = await settled()
  await chain.reorganise(1)
  expect(await paid(payer)).toEqual([])
  expect(await confirmation()).toBe('gone')

  const again = receiptIn(await x402.collect(payment))
  expect(await paid(payer)).toEqual([{ value: price, transaction: again.transaction }])
  expect(await x402.confirmationOf(payment, again)).toBe('not_yet')
  await chain.mine()
  expect(await x402.confirmationOf(payment, again)).toBe('final')
})

test('a payment that moved to a later block stands where it is now', async () => {
  const { payment, receipt, confirmation } = await settled()
  const bytes = await bytesOf(receipt.transaction)
  await chain.mine()
  await chain.reorganise(2, [[bytes, 1]])
  expect(await confirmation()).toBe('not_yet')
  const { gas: _, ...where } = receipt
  expect(await x402.collect(payment)).toMatchObject({
    outcome: 'settled',
    receipt: { ...where, block: receipt.block + 1 },
  })
  await chain.mine()
  expect(await confirmation()).toBe('final')
})

test('what was sent after a reorganisation is not held up by what was dropped', async () => {
  const before = await chain.sentByUs()
  const dropped = await settled()
  await chain.reorganise(1)
  const next = await settled()
  const again = receiptIn(await x402.collect(dropped.payment))
  expect(await paid(next.payer)).toHaveLength(1)
  expect(await paid(dropped.payer)).toMatchObject([{ transaction: again.transaction }])
  expect(await chain.sentByUs()).toBe(before + 2)
})

test('a payment that somebody else submitted again is found where it is, at no cost', async () => {
  const { payment, payer, confirmation } = await settled()
  await chain.reorganise(1)
  const key = generatePrivateKey()
  await chain.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 18n })
  const other = chain.connect({ gasKey: key }).x402
  const { gas: _, ...theirs } = receiptIn(await other.collect(payment))
  expect(await confirmation()).toBe('gone')
  const before = await chain.sentByUs()
  expect(receiptIn(await x402.collect(payment))).toEqual(theirs)
  expect(await chain.sentByUs()).toBe(before)
  expect(await paid(payer)).toHaveLength(1)
})

test('a payment that is cancelled once it was dropped has failed, when that is safe', async () => {
  const payment = await settled()
  await chain.reorganise(1)
  await cancel(chain, payment)
  expect(await payment.confirmation()).toBe('gone')
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
  await chain.mine()
  expect(await x402.collect(payment.payment)).toMatchObject({
    outcome: 'failed',
    code: 'authorization_cancelled',
  })
  expect(await paid(payment.payer)).toEqual([])
})

test('a transaction that lands again and moves nothing any more does not stand', async () => {
  const payment = await settled()
  const bytes = await bytesOf(payment.receipt.transaction)
  await chain.reorganise(1)
  await cancel(chain, payment)
  await chain.client.sendRawTransaction({ serializedTransaction: bytes })
  const { transaction } = payment.receipt
  const { status } = await chain.client.waitForTransactionReceipt({ hash: transaction as Hex })
  expect(status).toBe('reverted')
  await chain.mine(2)
  expect(await payment.confirmation()).toBe('gone')
})

test('a refund is paid only at a safe block, and one that is dropped before is sent again', async () => {
  const { payment, payer, receipt } = await settled()
  const refunds = () => chain.transfers(chain.refundWallet, payer)
  const due = { reference: newOrderId(), payment, since: receipt }
  const signed = await x402.signRefund(due)
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  expect(await refunds()).toHaveLength(1)
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })

  await chain.reorganise(1)
  expect(await refunds()).toEqual([])
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  const [{ transaction } = { transaction: '' }] = await refunds()
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
  await chain.mine()
  expect(await x402.payBack(signed)).toMatchObject({ outcome: 'paid', transaction })
  expect(await refunds()).toEqual([{ value: price, transaction }])
})

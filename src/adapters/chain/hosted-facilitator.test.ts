import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { newPayment, type Payment, price, startStillChain } from './chain.fixture.ts'

// A facilitator that somebody else runs: its answer is a hint, and the logs decide.

/** What it answers to each call; absent: it drops the connection. */
let said: { verify?: object; settle?: object }
const server = createServer((request, response) => {
  const answer = request.url === '/verify' ? said.verify : said.settle
  request.resume()
  if (answer === undefined) return void response.destroy()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answer))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => server.close())
const { port } = server.address() as AddressInfo
const chain = await startStillChain()
const { x402 } = chain.connect({ facilitatorUrl: `http://127.0.0.1:${port}` })
let payment: Payment

beforeEach(async () => {
  payment = await newPayment(chain)
  said = { verify: { isValid: true, payer: payment.payer } }
})

const success = (transaction: string) => ({
  ...{ success: true, transaction, network: 'eip155:84532', payer: payment.payer },
})
const paid = () => chain.transfers(payment.payer, chain.keys.payTo)

test('one that is down is no reason to ask for another signature', async () => {
  said = {}
  expect(await x402.check(payment.payment)).toMatchObject({
    outcome: 'unknown',
    reason: 'the connection failed (UND_ERR_SOCKET)',
  })
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
})

test('one that settles is believed when the logs say so', async () => {
  expect(await x402.check(payment.payment)).toMatchObject({ outcome: 'good' })
  const theirs = await chain.connect().x402.collect(payment.payment)
  if (theirs.outcome !== 'settled') throw new Error(JSON.stringify(theirs))
  said = { settle: success(theirs.receipt.transaction) }
  expect(await x402.collect(payment.payment)).toEqual(theirs)
})

test('one whose answer is lost has settled all the same', async () => {
  const theirs = await chain.connect().x402.collect(payment.payment)
  expect(await x402.collect(payment.payment)).toEqual(theirs)
  expect(theirs).toMatchObject({ outcome: 'settled' })
})

test('one that says “settlement_pending” and a hash is looked after, and not asked for a verdict', async () => {
  const hash = `0x${'12'.repeat(32)}`
  said = { settle: { ...success(hash), success: false, errorReason: 'settlement_pending' } }
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
  const theirs = await chain.connect().x402.collect(payment.payment)
  expect(await x402.collect(payment.payment)).toEqual(theirs)
})

test.each([
  'pending',
  '0x12',
  `0x${'12'.repeat(33)}`,
  `0x${'zz'.repeat(32)}`,
  `${'12'.repeat(32)}`,
])('one that calls %s a transaction has named none, and the logs tell', async (transaction) => {
  const theirs = await chain.connect().x402.collect(payment.payment)
  said = { settle: success(transaction) }
  expect(await x402.collect(payment.payment)).toEqual(theirs)
  expect(theirs).toMatchObject({ outcome: 'settled' })
})

test('one that lies about a success is not believed', async () => {
  said = { settle: success(`0x${'12'.repeat(32)}`) }
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
  // Nor when it names the transaction of another payment of the same amount.
  const other = await newPayment(chain)
  const theirs = await chain.connect().x402.collect(other.payment)
  if (theirs.outcome !== 'settled') throw new Error(JSON.stringify(theirs))
  said = { settle: success(theirs.receipt.transaction) }
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
  expect(await paid()).toEqual([])
})

test('one that says that it failed has not proven that', async () => {
  const reason = { success: false, errorReason: 'invalid_exact_evm_nonce_already_used' }
  said = { settle: { ...success(''), ...reason } }
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'unknown' })
  await chain.connect().x402.collect(payment.payment)
  expect(await x402.collect(payment.payment)).toMatchObject({ outcome: 'settled' })
  expect(await paid()).toMatchObject([{ value: price }])
})

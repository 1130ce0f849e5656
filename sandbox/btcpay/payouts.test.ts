import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { makeAddress } from './addresses.ts'
import { parseDecimal } from './amounts.ts'
import { everything, storeId } from './client.fixture.ts'
import { coins, symbols, type Ticker } from './coins.ts'
import { heardBtcpay } from './heard.fixture.ts'
import type { BtcpayOptions } from './options.ts'

const start = heardBtcpay()
const pulls = `/api/v1/stores/${storeId}/pull-payments`
const payouts = `/api/v1/stores/${storeId}/payouts`
const buyer = (coin: Ticker, name = 'buyer') => makeAddress(coin, 'outside', name)

async function begin(options: Partial<BtcpayOptions> = {}) {
  const { call, receiver } = await start({ permissions: everything, ...options })
  const create = async (body: object = {}) => {
    const request = { name: 'Refund 1', amount: '0.001', currency: 'BTC', autoApproveClaims: true }
    return call(`POST ${pulls}`, { ...request, ...body })
  }
  const claim = (id: string, body: object = {}) => {
    const request = { destination: buyer('BTC'), payoutMethodId: 'BTC-CHAIN' }
    return call(`POST /api/v1/pull-payments/${id}/payouts`, { ...request, ...body })
  }
  const become = (id: string, state: string) =>
    until(async () => {
      const { body } = await call(`GET /api/v1/payouts/${id}`)
      return body.state === state ? body : undefined
    })
  return { become, call, claim, create, receiver }
}

test('a claim that is approved is sent, proven by its transaction, and complete', async () => {
  const { become, call, claim, create, receiver } = await begin()
  const pull = (await create()).body
  expect(pull).toMatchObject({ name: 'Refund 1', amount: '0.001', archived: false })
  const { body } = await claim(pull.id)
  expect(body).toMatchObject({
    pullPaymentId: pull.id,
    state: 'AwaitingPayment',
    originalAmount: '0.001',
    payoutAmount: '0.001',
  })
  const { paymentProof } = await become(body.id, 'Completed')
  const { BTC } = (await call('GET /sandbox/ledger')).body
  expect(BTC.outgoing).toMatchObject([
    { id: paymentProof.transactionId, amount: '0.001', address: buyer('BTC'), subject: body.id },
  ])
  expect((await call(`GET /api/v1/pull-payments/${pull.id}/payouts`)).body).toHaveLength(1)
  await until(() => (receiver.received.length >= 4 ? true : undefined))
  const told = receiver.received.map(({ event }) => `${event.type} ${event.payoutState}`)
  expect(told).toEqual([
    'PayoutCreated AwaitingApproval',
    'PayoutApproved AwaitingPayment',
    'PayoutUpdated InProgress',
    'PayoutUpdated Completed',
  ])
})

test.each(symbols.filter((coin) => coins[coin].paysOut))('%s is paid out', async (coin) => {
  const { become, call } = await begin()
  const { body } = await call(`POST ${payouts}`, {
    destination: buyer(coin),
    amount: '0.1',
    payoutMethodId: coins[coin].methodId,
    approved: true,
  })
  expect((await become(body.id, 'Completed')).payoutAmount).toBe('0.1')
})

test('nothing is sent that the wallet does not hold, until it holds it', async () => {
  const { become, call } = await begin()
  const order = (amount: string, name: string) =>
    call(`POST ${payouts}`, {
      destination: buyer('BTC', name),
      amount,
      payoutMethodId: 'BTC-CHAIN',
      approved: true,
    })
  // The wallet holds 0.25 BTC, from which the chain's fee is paid too.
  const large = (await order('0.25', 'large')).body
  await become((await order('0.001', 'small')).body.id, 'Completed')
  expect((await call(`GET /api/v1/payouts/${large.id}`)).body.state).toBe('AwaitingPayment')
  const invoice = (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '5' })).body
  await call(`POST /sandbox/invoices/${invoice.id}/pay`, { coin: 'BTC', amount: '0.01' })
  await become(large.id, 'Completed')
})

test('nothing is made or lost on any chain', async () => {
  const { become, call, claim, create } = await begin()
  const invoice = (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '80' })).body
  for (const coin of symbols) await call(`POST /sandbox/invoices/${invoice.id}/pay`, { coin })
  await become((await claim((await create()).body.id)).body.id, 'Completed')
  const ledger = (await call('GET /sandbox/ledger')).body
  for (const coin of symbols) {
    const { float, balance, incoming, outgoing } = ledger[coin]
    const units = (text: string) => parseDecimal(text, coins[coin].decimals) ?? -1n
    const sum = (all: { amount: string; fee: string }[], field: 'amount' | 'fee') =>
      all.reduce((total, one) => total + units(one[field]), 0n)
    const left = sum(incoming, 'amount') - sum(outgoing, 'amount') - sum(outgoing, 'fee')
    expect(units(float) + left).toBe(units(balance))
    expect(incoming).toHaveLength(1)
  }
  expect(ledger.BTC.outgoing).toHaveLength(1)
})

test('Monero is never paid out, as with the real server', async () => {
  const { call, claim, create } = await begin()
  const refused = await create({ currency: 'XMR', payoutMethods: ['XMR-CHAIN'] })
  expect(refused).toMatchObject({ status: 422, body: [{ path: 'payoutMethods[0]' }] })
  const pull = (await create({ currency: 'XMR' })).body
  const monero = { destination: buyer('XMR'), payoutMethodId: 'XMR-CHAIN' }
  const asked = await claim(pull.id, monero)
  expect(asked).toMatchObject({ status: 422, body: [{ path: 'payoutMethodId' }] })
  const direct = await call(`POST ${payouts}`, { ...monero, amount: '1', approved: true })
  expect(direct.status).toBe(422)
})

test('a pull payment pays up to its amount, and one address at a time', async () => {
  const { become, call, claim, create } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const { id } = (await create()).body
  expect(await claim(id, { amount: '0.002' })).toMatchObject({
    status: 400,
    body: { code: 'overdraft' },
  })
  const first = (await claim(id, { amount: '0.0006' })).body
  expect((await claim(id, { amount: '0.0001' })).body.code).toBe('duplicate-destination')
  const other = { destination: buyer('BTC', 'other') }
  expect((await claim(id, { ...other, amount: '0.0005' })).body.code).toBe('overdraft')
  const rest = (await claim(id, other)).body
  expect(rest.originalAmount).toBe('0.0004')
  expect((await call('GET /sandbox/ledger')).body.BTC.outgoing).toEqual([])
  await call('POST /sandbox/processor', { enabled: true })
  await become(first.id, 'Completed')
  await become(rest.id, 'Completed')
  expect((await claim(id)).body.code).toBe('amount-too-low')
})

test('a claim in dollars is paid at the rate of its approval', async () => {
  const { become, call, claim, create } = await begin()
  const { id } = (await create({ currency: 'USD', amount: '10', autoApproveClaims: false })).body
  const ether = { destination: buyer('ETH'), payoutMethodId: 'ETH-CHAIN' }
  const claimed = (await claim(id, ether)).body
  expect(claimed).toMatchObject({ state: 'AwaitingApproval', originalCurrency: 'USD' })
  expect(claimed).not.toHaveProperty('payoutAmount', expect.any(String))
  await call('POST /sandbox/rates', { ETH: '4' })
  const path = `/api/v1/payouts/${claimed.id}`
  expect((await call(`POST ${path}`, {})).status).toBe(422)
  expect((await call(`POST ${path}`, { revision: 1 })).body.code).toBe('old-revision')
  expect((await call(`POST ${path}`, { revision: 0 })).body.payoutAmount).toBe('2.5')
  await become(claimed.id, 'Completed')
  expect((await call(`POST ${path}`, { revision: 0 })).body.code).toBe('invalid-state')
})

test('what was not sent can be cancelled or archived, what was sent can not', async () => {
  const { become, call, claim, create } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const { id } = (await create()).body
  const one = (await claim(id, { amount: '0.0004' })).body
  expect((await call(`DELETE /api/v1/payouts/${one.id}`)).status).toBe(200)
  expect((await call(`GET ${payouts}`)).body).toEqual([])
  expect((await call(`GET ${payouts}?includeCancelled=true`)).body).toHaveLength(1)
  const two = (await claim(id)).body
  expect((await call(`DELETE /api/v1/pull-payments/${id}`)).status).toBe(200)
  await become(two.id, 'Cancelled')
  expect((await claim(id)).body.code).toBe('archived')
  expect((await call(`GET ${pulls}`)).body).toEqual([])
  expect((await call(`GET ${pulls}?includeArchived=true`)).body).toMatchObject([{ archived: true }])

  await call('POST /sandbox/processor', { enabled: true })
  const sent = (await claim((await create()).body.id)).body
  await become(sent.id, 'Completed')
  expect((await call(`DELETE /api/v1/payouts/${sent.id}`)).body.code).toBe('invalid-state')
})

test('an operator can note that a payout was made elsewhere', async () => {
  const { call, claim, create } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const { id } = (await claim((await create()).body.id)).body
  const mark = (body: object) => call(`POST /api/v1/payouts/${id}/mark`, body)
  expect((await mark({ state: 'Completed', paymentProof: { id: 'x' } })).status).toBe(422)
  expect((await mark({ state: 'Nowhere' })).status).toBe(422)
  const paymentProof = { proofType: 'external-proof', id: 'ab' }
  expect((await mark({ state: 'Completed', paymentProof })).status).toBe(200)
  expect((await call(`GET /api/v1/payouts/${id}`)).body).toMatchObject({
    state: 'Completed',
    paymentProof,
  })
  expect((await mark({ state: 'AwaitingPayment' })).body.code).toBe('invalid-state')
  expect((await call('GET /sandbox/ledger')).body.BTC.outgoing).toEqual([])
})

test('what an operator takes into his own hands is left to him, until he gives it back', async () => {
  const { become, call, claim, create, receiver } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const mine = (await claim((await create()).body.id)).body
  await call(`POST /api/v1/payouts/${mine.id}/mark`, { state: 'InProgress' })
  await call('POST /sandbox/processor', { enabled: true })
  const other = { destination: buyer('BTC', 'other') }
  await become((await claim((await create()).body.id, other)).body.id, 'Completed')
  expect((await call(`GET /api/v1/payouts/${mine.id}`)).body.state).toBe('InProgress')
  await call(`POST /api/v1/payouts/${mine.id}/mark`, { state: 'AwaitingPayment' })
  await become(mine.id, 'Completed')
  expect((await call('GET /sandbox/ledger')).body.BTC.outgoing).toHaveLength(2)
  expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true)
})

const refused: readonly (readonly [what: string, body: object, path: string])[] = [
  ['no amount', { amount: '0' }, 'amount'],
  ['a word for an amount', { amount: 'all' }, 'amount'],
  ['an unknown currency', { currency: 'DOGE' }, 'currency'],
  ['a long name', { name: 'x'.repeat(51) }, 'name'],
  ['no method', { payoutMethods: [] }, 'payoutMethods'],
  ['an end before its start', { startsAt: 2_000, expiresAt: 1_000 }, 'expiresAt'],
]

test.each(refused)(
  'a pull payment with %s is refused, and the field named',
  async (_what, body, path) => {
    const { create } = await begin()
    expect(await create(body)).toMatchObject({ status: 422, body: [{ path }] })
  },
)

test('a claim is refused for an address that is none, too little, too early or too late', async () => {
  const { call, claim, create } = await begin()
  const { id } = (await create()).body
  const bad = await claim(id, { destination: `${buyer('BTC')}x` })
  expect(bad).toMatchObject({ status: 422, body: [{ path: 'destination' }] })
  expect((await claim(id, { destination: buyer('LTC') })).status).toBe(422)
  expect((await claim(id, { amount: '0.00000001' })).body.code).toBe('amount-too-low')
  const later = { startsAt: Math.floor(Date.now() / 1_000) + 3_600 }
  expect((await claim((await create(later)).body.id)).body.code).toBe('not-started')
  const over = { startsAt: 1_000, expiresAt: 2_000 }
  expect((await claim((await create(over)).body.id)).body.code).toBe('expired')
  const onlyLtc = (await create({ payoutMethods: ['LTC-CHAIN'] })).body
  expect((await claim(onlyLtc.id)).body.code).toBe('payment-method-not-supported')
  expect((await claim('nothing')).body.code).toBe('pullpayment-not-found')
  expect((await call('GET /api/v1/payouts/nothing')).body.code).toBe('payout-not-found')
})

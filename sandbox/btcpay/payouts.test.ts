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
  /** A payout, by its pull payment and its id. */
  const stateOf = async (payout: { id: string; pullPaymentId: string }) => {
    const path = `/api/v1/pull-payments/${payout.pullPaymentId}/payouts?includeCancelled=true`
    const { body } = await call(`GET ${path}`)
    return body.find((one: { id: string }) => one.id === payout.id)
  }
  const become = (payout: { id: string; pullPaymentId: string }, state: string) =>
    until(async () => {
      const found = await stateOf(payout)
      return found.state === state ? found : undefined
    })
  return { become, call, claim, create, receiver, stateOf }
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
  const { paymentProof } = await become(body, 'Completed')
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
  const { become, claim, create } = await begin()
  const { id } = (await create({ currency: coin, amount: '0.1' })).body
  const payoutMethodId = coins[coin].methodId
  const { body } = await claim(id, { destination: buyer(coin), payoutMethodId })
  expect((await become(body, 'Completed')).payoutAmount).toBe('0.1')
})

test('nothing is sent that the wallet does not hold, until it holds it', async () => {
  const { become, call, claim, create, stateOf } = await begin()
  const order = async (amount: string, name: string) => {
    const { id } = (await create({ amount })).body
    return (await claim(id, { destination: buyer('BTC', name) })).body
  }
  // The wallet holds 0.25 BTC, from which the chain's fee is paid too.
  const large = await order('0.25', 'large')
  await become(await order('0.001', 'small'), 'Completed')
  expect((await stateOf(large)).state).toBe('AwaitingPayment')
  const invoice = (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '5' })).body
  await call(`POST /sandbox/invoices/${invoice.id}/pay`, { coin: 'BTC', amount: '0.01' })
  await become(large, 'Completed')
})

test('nothing is made or lost on any chain', async () => {
  const { become, call, claim, create } = await begin()
  const invoice = (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '80' })).body
  for (const coin of symbols) await call(`POST /sandbox/invoices/${invoice.id}/pay`, { coin })
  await become((await claim((await create()).body.id)).body, 'Completed')
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
  const { claim, create } = await begin()
  const refused = await create({ currency: 'XMR', payoutMethods: ['XMR-CHAIN'] })
  expect(refused).toMatchObject({ status: 422, body: [{ path: 'payoutMethods[0]' }] })
  const pull = (await create({ currency: 'XMR' })).body
  const monero = { destination: buyer('XMR'), payoutMethodId: 'XMR-CHAIN' }
  const asked = await claim(pull.id, monero)
  expect(asked).toMatchObject({ status: 422, body: [{ path: 'payoutMethodId' }] })
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
  await become(first, 'Completed')
  await become(rest, 'Completed')
  expect((await claim(id)).body.code).toBe('amount-too-low')
})

test('a claim in dollars is paid at the rate of its approval', async () => {
  const { become, call, claim, create } = await begin()
  await call('POST /sandbox/rates', { ETH: '4' })
  const ether = { destination: buyer('ETH'), payoutMethodId: 'ETH-CHAIN' }
  const { id } = (await create({ currency: 'USD', amount: '10' })).body
  const claimed = (await claim(id, ether)).body
  expect(claimed).toMatchObject({ originalCurrency: 'USD', payoutAmount: '2.5' })
  await become(claimed, 'Completed')
  const unapproved = (await create({ currency: 'USD', amount: '10', autoApproveClaims: false }))
    .body
  const waiting = (await claim(unapproved.id, ether)).body
  expect(waiting).toMatchObject({ state: 'AwaitingApproval', payoutAmount: null })
})

test.each([false, true])(
  'an archived pull payment cancels what was not sent, and hides payouts if set: %s',
  async (archiveHidesPayouts) => {
    const { call, claim, create } = await begin({ archiveHidesPayouts })
    await call('POST /sandbox/processor', { enabled: false })
    const { id } = (await create()).body
    await claim(id)
    expect((await call(`DELETE /api/v1/pull-payments/${id}`)).status).toBe(200)
    const left = await call(`GET /api/v1/pull-payments/${id}/payouts?includeCancelled=true`)
    expect(left.body.map((payout: { state: string }) => payout.state)).toEqual(
      archiveHidesPayouts ? [] : ['Cancelled'],
    )
    expect((await claim(id)).body.code).toBe('archived')
    expect((await call(`GET ${pulls}`)).body).toEqual([])
    expect((await call(`GET ${pulls}?includeArchived=true`)).body).toMatchObject([
      { archived: true },
    ])
  },
)

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
  const { claim, create } = await begin()
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
})

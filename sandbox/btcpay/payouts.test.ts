import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { makeAddress } from './addresses.ts'
import { everything, startWithReceiver, storeId } from './client.fixture.ts'
import type { Ticker } from './coins.ts'

const start = startWithReceiver()
const pulls = `/api/v1/stores/${storeId}/pull-payments`
const buyer = (coin: Ticker, name = 'buyer') => makeAddress(coin, 'outside', name)

async function begin() {
  const { call } = await start({ permissions: everything })
  const create = async (body: object = {}) => {
    const request = { name: 'Refund 1', amount: '0.001', currency: 'BTC', autoApproveClaims: true }
    return call(`POST ${pulls}`, { ...request, ...body })
  }
  const claim = (id: string, body: object = {}) => {
    const request = { destination: buyer('BTC'), payoutMethodId: 'BTC-CHAIN' }
    return call(`POST /api/v1/pull-payments/${id}/payouts`, { ...request, ...body })
  }
  const become = ({ id, pullPaymentId }: Record<string, string>, state: string) =>
    until(async () => {
      const { body } = await call(`GET /api/v1/pull-payments/${pullPaymentId}/payouts`)
      return body.find((one: { id: string }) => one.id === id).state === state || undefined
    })
  return { become, call, claim, create }
}

test('nothing is sent that the wallet does not hold, until it holds it', async () => {
  const { become, call, claim, create } = await begin()
  // The wallet holds 0.25 BTC, from which the chain's fee is paid too.
  const large = (await claim((await create({ amount: '0.25' })).body.id)).body
  const small = { destination: buyer('BTC', 'small') }
  await become((await claim((await create()).body.id, small)).body, 'Completed')
  await become(large, 'AwaitingPayment')
  const invoice = (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '5' })).body
  await call(`POST /sandbox/invoices/${invoice.id}/pay`, { coin: 'BTC', amount: '0.01' })
  await become(large, 'Completed')
})

test('Monero is never paid out, as with the real server', async () => {
  const { claim, create } = await begin()
  const refused = await create({ currency: 'XMR', payoutMethods: ['XMR-CHAIN'] })
  expect(refused).toMatchObject({ status: 422, body: [{ path: 'payoutMethods[0]' }] })
  const pull = (await create({ currency: 'XMR' })).body
  const asked = await claim(pull.id, { destination: buyer('XMR'), payoutMethodId: 'XMR-CHAIN' })
  expect(asked).toMatchObject({ status: 422, body: [{ path: 'payoutMethodId' }] })
})

test('a pull payment pays up to its amount, and one address at a time', async () => {
  const { become, call, claim, create } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const { id } = (await create()).body
  const code = async (body: object) => (await claim(id, body)).body.code
  expect(await code({ amount: '0.002' })).toBe('overdraft')
  const first = (await claim(id, { amount: '0.0006' })).body
  expect(await code({ amount: '0.0001' })).toBe('duplicate-destination')
  const other = { destination: buyer('BTC', 'other') }
  expect(await code({ ...other, amount: '0.0005' })).toBe('overdraft')
  const rest = (await claim(id, other)).body
  expect(rest.originalAmount).toBe('0.0004')
  await call('POST /sandbox/processor', { enabled: true })
  await become(first, 'Completed')
  await become(rest, 'Completed')
  expect(await code({})).toBe('amount-too-low')
})

test('an archived pull payment sends nothing more, shows no payouts, and takes no more claims', async () => {
  const { call, claim, create } = await begin()
  await call('POST /sandbox/processor', { enabled: false })
  const { id } = (await create()).body
  await claim(id)
  await call(`DELETE /api/v1/pull-payments/${id}`)
  await call('POST /sandbox/processor', { enabled: true })
  const left = await call(`GET /api/v1/pull-payments/${id}/payouts?includeCancelled=true`)
  expect(left.body).toEqual([])
  expect((await call('GET /sandbox/ledger')).body.BTC.outgoing).toEqual([])
  expect((await claim(id)).body.code).toBe('archived')
  expect((await call(`GET ${pulls}`)).body).toEqual([])
})

test.each<[what: string, body: object, path: string]>([
  ['no amount', { amount: '0' }, 'amount'],
  ['a word for an amount', { amount: 'all' }, 'amount'],
  ['an unknown currency', { currency: 'DOGE' }, 'currency'],
  ['a long name', { name: 'x'.repeat(51) }, 'name'],
])('a pull payment with %s is refused, and the field named', async (_what, body, path) => {
  const { create } = await begin()
  expect(await create(body)).toMatchObject({ status: 422, body: [{ path }] })
})

test('a claim is refused for an address that is none, too little, or another method', async () => {
  const { claim, create } = await begin()
  const refusal = async (pull: object, body: object = {}) => {
    const answer = await claim((await create(pull)).body.id, body)
    return answer.body.code ?? answer.body[0].path
  }
  expect(await refusal({}, { destination: `${buyer('BTC')}x` })).toBe('destination')
  expect(await refusal({}, { destination: buyer('LTC') })).toBe('destination')
  expect(await refusal({}, { amount: '0.00000001' })).toBe('amount-too-low')
  expect(await refusal({ payoutMethods: ['LTC-CHAIN'] })).toBe('payment-method-not-supported')
  expect((await claim('nothing')).body.code).toBe('pullpayment-not-found')
})

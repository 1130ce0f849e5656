import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { apiKey, startWithReceiver, storeId } from './client.fixture.ts'
import { symbols } from './coins.ts'

const start = startWithReceiver()
const invoices = `/api/v1/stores/${storeId}/invoices`

async function begin() {
  const { call, url } = await start({})
  const create = async (body: object = {}) => {
    const request = { amount: '25.00', currency: 'USD', ...only('BTC-CHAIN'), ...body }
    return (await call(`POST ${invoices}`, request)).body
  }
  const method = async (id: string) =>
    (await call(`GET /api/v1/invoices/${id}/payment-methods`)).body[0]
  const become = (id: string, wanted: object) =>
    until(async () => {
      const invoice = (await call(`GET /api/v1/invoices/${id}`)).body
      const fits = Object.entries(wanted).every(([name, value]) => invoice[name] === value)
      return fits ? invoice : undefined
    })
  const act = async (id: string, action: string, body?: object) =>
    (await call(`POST /sandbox/invoices/${id}/${action}`, body)).body
  return { act, become, call, create, method, url }
}

function only(...paymentMethods: string[]) {
  return { checkout: { paymentMethods } }
}

const links = {
  BTC: /^bitcoin:bcrt1\w+\?amount=0\.00038825$/,
  LTC: /^litecoin:rltc1\w+\?amount=0\.\d+$/,
  XMR: /^monero:7\w+\?tx_amount=0\.\d+$/,
  ETH: /^ethereum:0x[\da-fA-F]{40}@11155111\?value=\d+$/,
  USDT: /^tron:T\w{33}\?amount=24\.995\d+$/,
}

test('each coin is asked for with a link that a wallet opens', async () => {
  const { call, create } = await begin()
  const { id } = await create(only())
  const { body } = await call(`GET /api/v1/invoices/${id}/payment-methods`)
  for (const symbol of symbols) {
    const one = body.find(({ currency }: { currency: string }) => currency === symbol)
    expect(one.paymentLink).toMatch(links[symbol])
    expect(one.paymentLink).toContain(one.destination)
  }
})

test('too much is settled as paid over, and what comes after that is a payment more', async () => {
  const { act, become, create, method } = await begin()
  const { id } = await create()
  await act(id, 'pay', { amount: '0.0007765' })
  await become(id, { status: 'Settled', additionalStatus: 'PaidOver' })
  expect(await method(id)).toMatchObject({ due: '-0.00038825' })
  const twice = await create()
  await act(twice.id, 'pay')
  await become(twice.id, { status: 'Settled' })
  await act(twice.id, 'pay')
  await become(twice.id, { status: 'Settled', additionalStatus: 'None', paidAmount: '50' })
  expect((await method(twice.id)).payments).toHaveLength(2)
})

test.each<[what: string, body: object, path: string]>([
  ['no amount', { amount: null }, 'amount'],
  ['a negative amount', { amount: '-1' }, 'amount'],
  ['words for an amount', { amount: 'ten' }, 'amount'],
  ['an unknown method', only('DOGE-CHAIN'), 'checkout.paymentMethods[0]'],
  ['half a minute less', { checkout: { expirationMinutes: 0.4 } }, 'checkout.expirationMinutes'],
  ['metadata that is none', { metadata: 'x' }, 'metadata'],
])('an invoice with %s is refused, and the field named', async (_what, body, path) => {
  const { call } = await begin()
  const answer = await call(`POST ${invoices}`, { amount: '1', currency: 'USD', ...body })
  expect(answer).toMatchObject({ status: 422, body: [{ path }] })
})

test('what cannot be done to an invoice is told', async () => {
  const { call, create } = await begin()
  const { id } = await create()
  const pay = (body: object) => call(`POST /sandbox/invoices/${id}/pay`, body)
  for (const amount of ['0', '-1', '0.000000001', 'x', '']) {
    expect(await pay({ amount })).toMatchObject({ status: 422, body: [{ path: 'amount' }] })
  }
  expect(await pay({ coin: 'LTC' })).toMatchObject({ status: 422, body: [{ path: 'coin' }] })
  expect((await pay({ ammount: '1' })).status).toBe(422)
  const missing = { status: 403, body: { code: 'missing-permission' } }
  expect(await call('GET /api/v1/invoices/nothing')).toMatchObject(missing)
  const euros = await call(`POST ${invoices}`, { amount: '1', currency: 'EUR' })
  expect(euros).toMatchObject({ status: 400, body: { code: 'rate-unavailable' } })
})

test('nobody gets in without the key, and a body that is no JSON is told so', async () => {
  const { call, url } = await begin()
  for (const key of ['', 'wrong', `${apiKey}2`]) {
    expect(await call(`GET ${invoices}`, undefined, key)).toMatchObject({ status: 401 })
  }
  expect((await call('DELETE /api/v1/pull-payments/x', undefined, '')).status).toBe(401)
  const headers = { authorization: `token ${apiKey}`, 'content-type': 'application/json' }
  const broken = await fetch(`${url}${invoices}`, { method: 'POST', headers, body: '{"amount":' })
  expect(broken.status).toBe(422)
})

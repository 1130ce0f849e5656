import { expect, test } from 'vitest'
import { expectAnswerFits, expectShape, greenfield } from '../../test/harness/greenfield.ts'
import { until } from '../waiting.fixture.ts'
import { makeAddress } from './addresses.ts'
import { type Answer, ask, everything, startWithReceiver, storeId } from './client.fixture.ts'
import { coins, symbols } from './coins.ts'

const ofStore = '/api/v1/stores/{storeId}'
const ofInvoice = '/api/v1/invoices/{invoiceId}'
const ofPull = '/api/v1/pull-payments/{pullPaymentId}'

const start = startWithReceiver()

type Document = Awaited<ReturnType<typeof begin>>

async function begin(permissions: readonly string[] = everything) {
  const { receiver, url } = await start({ permissions })
  const used = new Set<string>()

  /** Calls an operation by its name in the document, and checks the answer against the document. */
  async function call(operation: string, params: Record<string, string> = {}, body?: unknown) {
    const [name = '', query = ''] = operation.split('?')
    used.add(name)
    const given: Record<string, string> = { storeId, ...params }
    const filled = name.replace(/\{(\w+)\}/g, (_whole, key: string) => given[key] ?? key)
    const [method = '', path = ''] = filled.split(' ')
    const answer = await ask(url, query === '' ? filled : `${filled}?${query}`, body)
    expectFits(method, path, answer)
    return answer
  }
  return { call, receiver, url, used }
}

/** The document lists few of the refusals; the real server sends all of them in these two shapes. */
function expectFits(method: string, path: string, { status, body }: Answer): void {
  if (status < 400) expectAnswerFits(method, path, status, body)
  else if (status === 422) expectShape('ValidationProblemDetails', body)
  else {
    const { missingPermission, ...problem } = body
    expect(typeof missingPermission).toBe(status === 403 ? 'string' : 'undefined')
    expectShape('ProblemDetails', problem)
  }
}

test('every answer to what a store asks for is as the document says, in every state', async () => {
  const document = await begin()
  await invoicesInEveryState(document)
  await payoutsInEveryState(document)
  await storeAndWebhooks(document)
  await refusals(document)
  const known = Object.keys(greenfield.operations)
  expect([...document.used].sort()).toEqual(known.sort())
})

/** What BTCPay's controllers of that commit ask for, where its document says something else. */
const askedFor: Readonly<Record<string, string | undefined>> = {
  [`GET ${ofStore}/pull-payments`]: 'btcpay.store.canviewpullpayments',
  'GET /api/v1/api-keys/current': undefined,
}

test('a key without permissions is refused what the document names one for', async () => {
  const { call } = await begin([])
  for (const [operation, { permissions }] of Object.entries(greenfield.operations)) {
    const wanted = operation in askedFor ? askedFor[operation] : permissions[0]
    const { body } = await call(operation)
    expect([operation, body?.missingPermission]).toEqual([operation, wanted])
  }
})

test('a key may do what its permissions include, in its own store', async () => {
  const { call } = await begin(['btcpay.store.canmodifyinvoices'])
  const made = await call(`POST ${ofStore}/invoices`, {}, { amount: '10', currency: 'USD' })
  const invoiceId = made.body.id
  expect((await call(`GET ${ofInvoice}`, { invoiceId })).status).toBe(200)
  expect((await call(`DELETE ${ofInvoice}`, { invoiceId })).status).toBe(200)
  expect((await call(`GET ${ofStore}/payment-methods`)).status).toBe(403)
  expect((await call(`GET ${ofStore}/invoices`, { storeId: 'Other' })).status).toBe(403)
})

test('every event of an invoice is as the document says', async () => {
  const document = await begin()
  await invoicesInEveryState(document)
  const { received, types } = document.receiver
  const own = Object.keys(greenfield.schemas).flatMap((schema) => {
    const [, type] = /^Webhook(Invoice\w+)Event$/.exec(schema) ?? []
    return type === undefined ? [] : [type]
  })
  expect(own.length).toBeGreaterThan(5)
  await until(() => (own.every((type) => types().includes(type)) ? true : undefined))
  for (const { event } of received) {
    expectShape(
      own.includes(event.type) ? `Webhook${event.type}Event` : 'WebhookInvoiceEvent',
      event,
    )
  }
})

async function invoicesInEveryState({ call, url }: Document) {
  const create = (checkout: object = {}) =>
    call(`POST ${ofStore}/invoices`, {}, { amount: '10', currency: 'USD', checkout })
  const states: (readonly [action: string, body?: object])[] = [
    ['confirm'],
    ['pay', { amount: '0.00001' }],
    ['pay', { confirm: false }],
    ['pay'],
    ['pay', { amount: '1' }],
    ['pay', { late: true }],
    ['replace'],
    ['expire'],
  ]
  for (const [action, body] of states) {
    const invoiceId = (await create()).body.id
    await ask(url, `POST /sandbox/invoices/${invoiceId}/${action}`, body)
    await call(`GET ${ofInvoice}`, { invoiceId })
    const methods = await call(`GET ${ofInvoice}/payment-methods`, { invoiceId })
    expect(methods.body).toHaveLength(symbols.length)
  }
  const invoiceId = (await create({ expirationMinutes: 5, speedPolicy: 'HighSpeed' })).body.id
  await call(`POST ${ofInvoice}/status`, { invoiceId }, { status: 'Invalid' })
  await call(`DELETE ${ofInvoice}`, { invoiceId })
  const listed = await call(`GET ${ofStore}/invoices?includePaymentMethods=true&take=5`)
  expect(listed.body).toHaveLength(5)
}

async function payoutsInEveryState({ call }: Document) {
  for (const symbol of symbols.filter((coin) => coins[coin].paysOut)) {
    const payoutMethodId = coins[symbol].methodId
    const request = { name: 'r', amount: '0.001', currency: symbol, autoApproveClaims: true }
    const pullPaymentId = (await call(`POST ${ofStore}/pull-payments`, {}, request)).body.id
    const destination = makeAddress(symbol, 'outside', 'document')
    const claim = { destination, payoutMethodId }
    await call(`POST ${ofPull}/payouts`, { pullPaymentId }, claim)
    await until(async () => {
      const { body } = await call(`GET ${ofPull}/payouts?includeCancelled=true`, { pullPaymentId })
      return body[0].state === 'Completed' ? true : undefined
    })
    await call(`DELETE ${ofPull}`, { pullPaymentId })
  }
  await call(`GET ${ofStore}/pull-payments?includeArchived=true`)
}

async function storeAndWebhooks({ call }: Document) {
  await call('GET /api/v1/server/info')
  await call(`GET ${ofStore}`)
  await call(`GET ${ofStore}/payment-methods`)
  await call(`GET ${ofStore}/rates?currencyPair=BTC_USD&currencyPair=USD_ETH&currencyPair=BTC_EUR`)
  await call('GET /api/v1/api-keys/current')
  await call(`GET ${ofStore}/payout-processors`)
  await call(`GET ${ofStore}/webhooks`)
}

async function refusals({ call }: Document) {
  await call(`POST ${ofStore}/invoices`, {}, { amount: 'x' })
  await call(`GET ${ofInvoice}`, { invoiceId: 'nothing' })
  await call(`POST ${ofStore}/pull-payments`, {}, { amount: '0', currency: 'BTC' })
  await call(`POST ${ofPull}/payouts`, { pullPaymentId: 'nothing' }, { destination: 'x' })
  await call(`GET ${ofStore}/invoices`, { storeId: 'Other' })
  await call(`GET ${ofStore}/webhooks`, { storeId: 'Other' })
}

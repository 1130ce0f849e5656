import { expect, it } from 'vitest'
import {
  expectAnswerFits,
  expectRequestFits,
  expectShape,
  greenfield,
} from './harness/greenfield.ts'

const invoices = '/api/v1/stores/S1/invoices'
const problem = { code: 'not-found', message: 'There is no such thing.' }

it('says where its facts are from', () => {
  expect(greenfield.source).toMatchObject({
    repository: 'https://github.com/btcpayserver/btcpayserver',
    commit: '03345c2886a58ea4d2f603cb6554b2e3f5d690a4',
    licence: 'MIT',
  })
})

it('has every schema that it points to, and can check each', () => {
  const named = JSON.stringify(greenfield).matchAll(/"#\/schemas\/(\w+)"/g)
  for (const [, name = ''] of named) expect(greenfield.schemas).toHaveProperty(name)
  for (const name of Object.keys(greenfield.schemas)) {
    expect(() => expectShape(name, Symbol('nothing')), name).toThrow(/does not fit/)
  }
})

it('takes requests that the document knows', () => {
  expectRequestFits('GET', `${invoices}?orderId=chk_1&orderId=chk_2&take=10`)
  expectRequestFits('POST', invoices, { amount: '5.00', currency: 'USD', metadata: { any: 1 } })
  expectRequestFits('DELETE', '/api/v1/invoices/I1')
})

it.each([
  ['PUT', invoices, {}, 'no PUT'],
  ['GET', `${invoices}?order=1`, undefined, 'takes no "order"'],
  ['GET', `${invoices}?take=many`, undefined, '"take"'],
  ['DELETE', '/api/v1/invoices/I1', {}, 'takes no body'],
  ['POST', invoices, undefined, 'required'],
  ['POST', invoices, { amount: 5 }, '/amount must be string'],
  ['POST', invoices, { amount: '5e3' }, 'format'],
  ['POST', invoices, { price: '5' }, '(price)'],
  ['POST', invoices, { checkout: { speedPolicy: 'Fast' } }, '/checkout/speedPolicy'],
])('refuses the request %s %s %j', (method, path, body, message) => {
  expect(() => expectRequestFits(method, path, body)).toThrow(message)
})

it('takes answers that the document knows', () => {
  expectAnswerFits('GET', invoices, 200, [])
  expectAnswerFits('GET', '/api/v1/invoices/I1', 404, problem)
  expectAnswerFits('GET', '/api/v1/invoices/I1', 404)
  expectAnswerFits('POST', invoices, 401, problem)
  expectAnswerFits('DELETE', '/api/v1/invoices/I1', 200)
})

it.each([
  ['GET', invoices, 200, [{ id: 1 }], '/0/id must be string'],
  ['GET', '/api/v1/invoices/I1', 200, { status: 'Paid' }, '/status'],
  ['GET', '/api/v1/invoices/I1', 200, { state: 'New' }, '(state)'],
  ['GET', '/api/v1/invoices/I1', 409, problem, 'not in the document'],
  ['DELETE', '/api/v1/invoices/I1', 200, {}, 'has no body'],
])('refuses the answer %s %s %d %j', (method, path, status, body, message) => {
  expect(() => expectAnswerFits(method, path, status, body)).toThrow(message)
})

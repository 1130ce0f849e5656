import { expect, test } from 'vitest'
import type { Answer } from './connection.ts'
import { inputOf } from './input.ts'
import { judge, judgeRaw } from './judge.ts'
import { material } from './material.fixture.ts'
import { trendOf } from './memory.ts'
import { randomFor } from './random.ts'

const secrets = ['SESAME']

const problem = {
  type: 'https://kiosk.example/errors#not_found',
  title: 'Not found',
  status: 404,
  detail: 'There is nothing at this address.',
  code: 'not_found',
  requestId: 'r1',
  retryable: false,
}

const good: Readonly<Record<string, string>> = {
  'content-type': 'application/problem+json; charset=utf-8',
  'x-request-id': 'r1',
  'cache-control': 'no-store',
}

/** The verdict on a correct refusal with these changes. */
function said(
  changes: {
    status?: number
    headers?: Record<string, string>
    body?: unknown
    path?: string
    sent?: string
  } = {},
): string | undefined {
  const { status = 404, headers = {}, body = {}, path = '/nothing', sent = '' } = changes
  const text = typeof body === 'string' ? body : JSON.stringify({ ...problem, ...(body as object) })
  const given = Object.entries({ ...good, ...headers }).filter(([, value]) => value !== '')
  const answer: Answer = { status, headers: new Map(given), body: text }
  const input = {
    number: 1,
    name: 'x',
    method: 'GET',
    path,
    bytes: Buffer.from(sent),
    isRaw: false,
  }
  return judge(input, answer, { secrets })
}

test('a refusal in its form is good', () => {
  expect(said()).toBeUndefined()
  const discovery = { 'content-type': 'application/json; charset=utf-8' }
  expect(
    said({ path: '/ai/x', headers: discovery, body: '{"error":"Nothing here."}' }),
  ).toBeUndefined()
})

test('the page of an offer leads to itself from another spelling, and to nowhere else', () => {
  const respelt = { status: 302, headers: { location: '/buy/TEST-ESIM-OK' }, body: '' }
  expect(said(respelt)).toBeUndefined()
  const elsewhere = { ...respelt, headers: { location: '//buy.example/' } }
  expect(said(elsewhere)).toBe('its status is 302')
})

test('only a payment may be told that nobody knows what became of it', () => {
  const undecided = {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { status: 503, code: 'try_again', charged: 'unknown', retryable: true },
  }
  expect(said(undecided)).toBe('its status is 503')
  const sent = 'PAYMENT-SIGNATURE: e30='
  expect(said({ ...undecided, sent })).not.toBe('its status is 503')
  const known = { ...undecided, body: { ...undecided.body, charged: 'no' } }
  expect(said({ ...known, sent })).toBe('its status is 503')
})

test.each([
  ['500', { status: 500 }],
  ['503', { status: 503, headers: { 'retry-after': '5' } }],
  ['429 without Retry-After', { status: 429, body: { status: 429, code: 'rate_limited' } }],
  ['405 without Allow', { status: 405, body: { status: 405, code: 'method_not_allowed' } }],
  ['no request id', { headers: { 'x-request-id': '' } }],
  ['the id of another request', { body: { requestId: 'r2' } }],
  ['kept by a cache', { headers: { 'cache-control': '' } }],
  ['a code that nobody knows', { body: { code: 'oops' } }],
  ['a code of an object’s own making', { body: { code: 'constructor' } }],
  ['a code with the status of another', { status: 400, body: { status: 400 } }],
  ['other words', { body: { title: 'Nothing' } }],
  ['no sentence', { body: { detail: '' } }],
  ['another type', { headers: { 'content-type': 'application/json' } }],
  ['no JSON', { body: 'not found' }],
  ['a stack', { body: { detail: 'broken\n    at f (/src/x.ts:1)' } }],
  ['a secret in its body', { body: { detail: 'Open SESAME, please.' } }],
  ['a secret in a header', { headers: { location: '/SESAME' } }],
  [
    'a field of our own in discovery',
    { path: '/ai/x', body: '{"error":"No such thing.","code":1}' },
  ],
  ['a secret in an answer that is good', { status: 200, body: 'SESAME' }],
  ['a status that is none of ours', { status: 302 }],
])('%s is found', (_, changes) => {
  expect(said(changes)).toBeTypeOf('string')
})

test('of raw bytes only what is broken is found', () => {
  expect(judgeRaw('', { secrets })).toBeUndefined()
  expect(judgeRaw('HTTP/1.1 400 Bad Request\r\n\r\n', { secrets })).toBeUndefined()
  expect(judgeRaw('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 No\r\n\r\n', { secrets })).toMatch('5')
  expect(judgeRaw('<html>', { secrets })).toBeTypeOf('string')
  expect(judgeRaw('HTTP/1.1 200 OK\r\n\r\nSESAME', { secrets })).toBeTypeOf('string')
})

test('memory that grows is told from memory that warms up', () => {
  const at = (heap: number) => ({ heapBytes: heap * 1_048_576, rssBytes: heap * 1_048_576 })
  const warming = Array.from({ length: 24 }, (_, step) => at(Math.min(60 + step * 5, 85)))
  expect(trendOf(warming).isFlat).toBe(true)
  const leaking = Array.from({ length: 24 }, (_, step) => at(60 + step))
  expect(trendOf(leaking)).toMatchObject({ heapGrowth: 12, isFlat: false })
})

test('an input is made again by its seed and number, alone', () => {
  const all = Array.from({ length: 300 }, (_, number) => inputOf(7, number, material))
  for (const number of [299, 0, 123]) expect(inputOf(7, number, material)).toEqual(all[number])
  expect(new Set(all.map(({ bytes }) => bytes.toString('latin1'))).size).toBeGreaterThan(290)
  expect(inputOf(8, 123, material)).not.toEqual(all[123])
})

test('what is said to be one request is one', () => {
  for (let number = 0; number < 3_000; number += 1) {
    const { isRaw, bytes } = inputOf(9, number, material)
    if (isRaw) continue
    const [head = '', ...rest] = bytes.toString('latin1').split('\r\n\r\n')
    const lines = head.split('\r\n')
    expect(
      lines.every((line) => !/[\r\n\0]/.test(line)),
      head,
    ).toBe(true)
    const length = lines.find((line) => line.startsWith('content-length: '))
    expect(rest.join('\r\n\r\n')).toHaveLength(Number(length?.slice(16) ?? 0))
  }
})

test('random streams of neighbouring seeds have nothing to do with each other', () => {
  const first = Array.from({ length: 2_000 }, (_, number) => randomFor(1, number).below(10))
  for (let face = 0; face < 10; face += 1) {
    const count = first.filter((one) => one === face).length
    expect(count).toBeGreaterThan(120)
    expect(count).toBeLessThan(280)
  }
})

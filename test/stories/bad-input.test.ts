import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerFor, expectNoInsides, rowsOf, sendRaw } from './reading.ts'
import { bodyFor, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

// What no client should send: each gets an error that says what to correct, and nothing of it is kept.

const store = useStore('still')
const call = callerFor(store)
let before: Record<string, number>

const path = purchasePath('voucher')
const good = JSON.stringify(bodyFor('voucher', 'OK'))
beforeAll(async () => {
  before = await rowsOf(store)
})
afterAll(async () => {
  expect((await call('/livez')).status).toBe(200)
  expect(await rowsOf(store)).toEqual(before)
  expect(store.logLines.filter((line) => line.includes('unexpected error'))).toEqual([])
})

/** One request as bytes; the connection is to be closed after its answer. */
function request(line: string, headers: readonly string[] = [], content = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', content].join('\r\n')
}

const posted = (headers: readonly string[], content = good) =>
  request(`POST ${path}`, ['Content-Type: application/json', ...headers], content)
const sized = (content: string) => `Content-Length: ${Buffer.byteLength(content)}`

/** Sends it, and expects this status with a readable body and nothing of our insides. */
async function expectStatus(bytes: string | readonly (string | Uint8Array)[], ...status: number[]) {
  const answer = await sendRaw(store, bytes)
  const about = `${String(bytes).slice(0, 200)} is answered ${answer.text.slice(0, 400)}`
  expect(status, about).toContain(answer.status)
  expectNoInsides(answer.text)
  if (answer.status < 400 || answer.status === 402) return answer
  const [, text = ''] = answer.text.split('\r\n\r\n')
  const { error, detail } = JSON.parse(text)
  expect(error ?? detail, about).toMatch(/^\S.{5,}\.$/s)
  return answer
}

describe('on the wire', () => {
  test.each([
    '/ai/%2e%2e/livez',
    '/../../../../etc/passwd',
    '/..%2f..%2f..%2fetc%2fpasswd',
    '/..\\..\\windows\\win.ini',
    '/ai/vouchers%00',
    '/ai/vouchers/..;/',
    '/api/catalog/vouchers/offers/../purchase/info',
    '/style.css/../../package.json',
    '/package.json',
    '/.env',
    '/.git/config',
    `/${'a/'.repeat(3_000)}`,
  ])('%s is nothing here', async (target) => {
    await expectStatus(request(`GET ${target}`), 404)
  })

  test.each([
    ['a request line with a space', request('GET /ai/vou chers')],
    ['a request line without a path', request('GET ')],
    ['a method of its own', request('BUY /ai/vouchers')],
    ['a path that is no UTF-8', request('GET /ai/%ff')],
    ['no host', 'GET /ai HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a null in a header', posted(['X-A: a\0b'], '')],
    ['a space before the colon', posted(['X-A : b'], '')],
    ['two lengths', posted(['Content-Length: 5', 'Content-Length: 6'], '')],
    ['a length and chunks', posted(['Content-Length: 5', 'Transfer-Encoding: chunked'], '')],
    ['an unknown encoding of the body', posted(['Transfer-Encoding: gzip'], '')],
    ['a broken chunk', posted(['Transfer-Encoding: chunked'], '5\r\nabc\r\n0\r\n\r\n')],
    [
      'two idempotency keys',
      posted([sized(good), ...Array(2).fill(`Idempotency-Key: ${'k'.repeat(16)}`)]),
    ],
  ])('%s is refused', async (_, bytes) => {
    await expectStatus(bytes, 400, 404)
  })

  test('headers over 16 kB are 431', async () => {
    await expectStatus(request('GET /ai', [`X-Big: ${'x'.repeat(16_500)}`]), 431)
    await expectStatus(request('GET /ai', Array(6_000).fill('X-Many: 1234567890')), 431)
  })

  test('chunks without a length are taken, and what is or says to be over 16 kB is 413', async () => {
    const chunked = (content: string) => {
      const chunks = content.match(/.{1,1000}/gs) ?? []
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      return posted(['Transfer-Encoding: chunked'], `${framed.join('')}0\r\n\r\n`)
    }
    await expectStatus(chunked(good), 402)
    await expectStatus(chunked(good + ' '.repeat(16_385 - good.length)), 413)
    await expectStatus(posted(['Content-Length: 99999999999'], ''), 413)
  })

  test('what follows a body is a request of its own, never a part of it', async () => {
    const [head = ''] = posted([sized(good)]).split('\r\n\r\n')
    const first = `${head.replace('Connection: close', 'Connection: keep-alive')}\r\n\r\n${good}`
    const { text } = await expectStatus(first + request('GET /admin'), 402)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 402', 'HTTP/1.1 404'])
  })
})

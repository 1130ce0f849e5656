import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerFor, expectNoInsides, rowsOf, sendRaw } from './reading.ts'
import { bodyFor, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)
let before: Record<string, number>

beforeAll(async () => {
  before = await rowsOf(store)
})
afterAll(async () => {
  expect((await call('/livez')).status).toBe(200)
  expect(await rowsOf(store)).toEqual(before)
  expect(store.logLines.filter((line) => line.includes('unexpected error'))).toEqual([])
})

const path = purchasePath('voucher')
const body = JSON.stringify(bodyFor('voucher', 'OK'))

/** One request as bytes; the connection is to be closed after its answer. */
function request(line: string, headers: readonly string[] = [], content = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', content].join('\r\n')
}

const posted = (headers: readonly string[], content = body) =>
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
  const { error, detail, code, retryable, requestId } = JSON.parse(text)
  expect(error ?? detail, about).toMatch(/^\S.{5,}\.$/s)
  // A request that is no HTTP belongs to no interface yet, so its answer serves both.
  if (detail === undefined) return answer
  expect({ code, retryable, requestId }, about).toEqual({
    code: expect.stringMatching(/^[a-z_]+$/),
    retryable: false,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  return answer
}

describe('paths', () => {
  test.each([
    '/ai/../ai/vouchers',
    '/ai/./vouchers',
    '/ai//vouchers',
    '//ai/vouchers',
    '/ai/vouchers//',
    '/ai/%2e%2e/livez',
    '/ai/%2E%2E/%2E%2E/etc/passwd',
    '/../../../../etc/passwd',
    '/..%2f..%2f..%2fetc%2fpasswd',
    '/..\\..\\windows\\win.ini',
    '/%5c..%5c..%5c',
    '/ai/vouchers%00',
    '/ai/vouchers;x=1',
    '/ai/vouchers%3Flimit=1',
    '/ai/vouchers/..;/',
    '/api/catalog/orders/%2e%2e',
    '/api/catalog/orders/..%2f..%2f',
    '/api/catalog/vouchers/offers/../purchase/info',
    '/style.css/../../package.json',
    '/src/main.ts',
    '/package.json',
    '/.env',
    '/.git/config',
    '/%2eenv',
    '/node_modules/',
    '/api/catalog/%76ouchers%2Foffers',
    `/${'a/'.repeat(3_000)}`,
    `/${'a'.repeat(12_000)}`,
    `/buy/${'%41'.repeat(3_000)}`,
  ])('%s is nothing here', async (target) => {
    await expectStatus(request(`GET ${target}`), 404)
  })

  test.each(['/%', '/%zz', '/ai/%ff', '/api/catalog/%c3%28', '/buy/%f0%28%8c%28'])(
    '%s is no address',
    async (target) => {
      await expectStatus(request(`GET ${target}`), 400, 404)
    },
  )

  test.each([
    ['a space in it', 'GET /ai/vou chers'],
    ['a tab in it', 'GET /ai\t'],
    ['raw bytes above ASCII', 'GET /ai/vouchers?brand=é'],
    ['a line break alone', 'GET /ai\n'],
    ['no path', 'GET '],
    ['no method', ' /ai'],
    ['a method of its own', 'BUY /ai/vouchers'],
    ['a method in lower case', 'get /ai/vouchers'],
    ['an endless method', `${'G'.repeat(9_000)} /ai`],
  ])('a request line with %s is no HTTP', async (_, line) => {
    await expectStatus(request(line), 400, 404)
  })

  test('a whole address, an asterisk and CONNECT are answered or closed, never obeyed', async () => {
    await expectStatus(request('GET http://evil.example/ai'), 200, 404)
    await expectStatus(request('OPTIONS *'), 204, 400, 404, 405)
    const { text } = await sendRaw(store, request('CONNECT evil.example:443'))
    expect(text).not.toMatch(/^HTTP\/1\.1 2/)
  })
})

describe('headers', () => {
  test('without a host are 400, but HTTP/1.0 needs none', async () => {
    await expectStatus('GET /ai HTTP/1.1\r\nConnection: close\r\n\r\n', 400)
    await expectStatus('GET /ai HTTP/1.0\r\n\r\n', 200)
  })

  test('a section over 16 kB is 431', async () => {
    for (const size of [16_500, 60_000, 300_000]) {
      await expectStatus(request('GET /ai', [`X-Big: ${'x'.repeat(size)}`]), 431)
      await expectStatus(request('GET /ai', Array(size / 10).fill('X-Many: 1234567890')), 431)
    }
    await expectStatus(request(`GET /${'a'.repeat(17_000)}`), 431)
  })

  test.each([
    ['a null', 'X-A: a\0b'],
    ['a bare line break', 'X-A: a\nX-B b'],
    ['a space before the colon', 'X-A : b'],
    ['no colon', 'nonsense'],
    ['no name', ': b'],
    ['two lengths', `Content-Length: 5\r\nContent-Length: 6`],
    ['a length below nothing', 'Content-Length: -1'],
    ['a length that is no number', 'Content-Length: ten'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['an unknown encoding of the body', 'Transfer-Encoding: gzip'],
  ])('with %s are no HTTP', async (_, header) => {
    await expectStatus(posted([header], ''), 400)
  })

  test.each([
    ['Authorization', 'Bearer'],
    ['Authorization', `Bearer ${'x'.repeat(5_000)}`],
    ['Authorization', 'Basic YTpi'],
    ['Authorization', '\xff\xfe'],
    ['If-None-Match', '"'.repeat(5_000)],
    ['If-None-Match', '\xff'],
    ['Accept', `${'a/b,'.repeat(1_000)}`],
    ['Accept-Encoding', 'x'.repeat(5_000)],
    ['Origin', 'null'],
    ['Origin', `https://${'a'.repeat(5_000)}.example`],
    ['X-Forwarded-For', 'nobody'],
    ['X-Forwarded-For', `${'1.2.3.4, '.repeat(500)}`],
    ['X-Forwarded-For', '::ffff:1.2.3.4%eth0'],
    ['X-Forwarded-Proto', 'javascript'],
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Request-Id', 'mine\x7f'],
    ['Cookie', 'a=b'],
    ['Range', 'bytes=0-1'],
    ['Prefer', `wait=${'9'.repeat(200)}`],
    ['Upgrade', 'websocket'],
  ])('%s: %s changes nothing', async (name, value) => {
    const bytes = Buffer.from(request('GET /ai', [`${name}: ${value}`]), 'latin1')
    const { text } = await expectStatus([bytes], 200, 400)
    expect(text).not.toContain('evil.example')
  })

  test('an idempotency key is 16 to 128 plain characters, once', async () => {
    const good = 'k'.repeat(16)
    const cases = ['k', 'k'.repeat(15), 'k'.repeat(129), 'k'.repeat(16).replace('k', '!'), '']
    for (const key of cases) {
      const bytes = posted([sized(body), `Idempotency-Key: ${key}`])
      const { text } = await expectStatus(bytes, 400)
      expect(text).toContain('Idempotency-Key')
    }
    const twice = [`Idempotency-Key: ${good}`, `Idempotency-Key: ${good}x`]
    await expectStatus(posted([sized(body), ...twice]), 400)
    await expectStatus(posted([sized(body), `Idempotency-Key: ${good}`]), 402)
  })
})

describe('bodies on their way', () => {
  test('chunks without a length are taken, and over 16 kB are 413', async () => {
    const chunked = (content: string, size = 1_000) => {
      const chunks = content.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      return posted(['Transfer-Encoding: chunked'], `${framed.join('')}0\r\n\r\n`)
    }
    await expectStatus(chunked(body, 7), 402)
    for (const bytes of [16_385, 70_000]) {
      await expectStatus(chunked(body + ' '.repeat(bytes - body.length)), 413)
    }
  })

  test('a length that promises too much is 413 before a byte of it came', async () => {
    await expectStatus(posted(['Content-Length: 16385'], ''), 413)
    await expectStatus(posted(['Content-Length: 99999999999'], ''), 413)
  })

  test('a broken chunk is no HTTP', async () => {
    for (const content of ['zz\r\n', 'ffffffffffffffffff\r\n', '5\r\nabc\r\n0\r\n\r\n']) {
      await expectStatus(posted(['Transfer-Encoding: chunked'], content), 400)
    }
  })

  test('what follows a body is a request of its own, never a part of it', async () => {
    const [head = ''] = posted([sized(body)]).split('\r\n\r\n')
    const first = `${head.replace('Connection: close', 'Connection: keep-alive')}\r\n\r\n${body}`
    const { text } = await expectStatus(first + request('GET /admin'), 402)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 402', 'HTTP/1.1 404'])
  })

  test('a reading path takes no notice of a body', async () => {
    for (const content of ['{', '\xff', 'x'.repeat(20_000)]) {
      await expectStatus(
        request('GET /ai/vouchers?limit=1', [sized(content)], content),
        200,
        400,
        413,
      )
    }
  })

  test('no body and no type is an empty call; a type alone is too', async () => {
    await expectStatus(request(`POST ${path}`, ['Content-Length: 0']), 402)
    await expectStatus(request(`POST ${path}`), 402)
    await expectStatus(posted([], ''), 402)
  })

  test('an unknown encoding of the content is not guessed at', async () => {
    const gzip = posted([sized(body), 'Content-Encoding: gzip'])
    const { status } = await sendRaw(store, gzip)
    expect([402, 415]).toContain(status)
    const expecting = posted([sized(body), 'Expect: 200-maybe'])
    expect((await sendRaw(store, expecting)).status).toBe(402)
  })

  test('a request that stops half-way holds nobody up', async () => {
    const { hostname, port } = new URL(store.url)
    const hanging = connect(Number(port), hostname)
    let hasEnded = false
    hanging.on('close', () => {
      hasEnded = true
    })
    hanging.write(posted(['Content-Length: 500'], '{"offerId":'))
    for (const at of ['/ai', '/livez', '/ai/vouchers']) expect((await call(at)).status).toBe(200)
    expect(hasEnded).toBe(false)
    hanging.destroy()
  })
})

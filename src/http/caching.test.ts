import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'

describe('finished answers over HTTP', () => {
  const url = '/ai/vouchers'
  const codings = [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const

  /** Polls until the compressed form is ready. */
  async function compressed(coding: string) {
    const { app, pass } = testApp()
    const ask = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
      pass(2_000)
      return app.inject({ method, url, headers: { 'accept-encoding': coding, ...headers } })
    }
    const plain = await ask()
    await expect.poll(async () => (await ask()).headers['content-encoding']).toBe(coding)
    const answer = await ask()
    return { ask, plain, answer }
  }

  test.each(codings)('%s holds the same text, under a tag of its own', async (coding, open) => {
    const { plain, answer } = await compressed(coding)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(open(answer.rawPayload).toString()).toBe(plain.body)
    expect(answer.headers['etag']).toBe(`${plain.headers['etag']?.slice(0, -1)}-${coding}"`)
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
    expect(answer.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
    for (const name of ['content-type', 'cache-control', 'access-control-allow-origin', 'vary']) {
      expect(answer.headers[name], name).toBe(plain.headers[name])
    }
    expect(answer.headers.vary).toBe('Accept-Encoding')
  })

  test.each(codings)('HEAD tells the length of %s', async (coding) => {
    const { ask, answer } = await compressed(coding)
    const head = await ask({}, 'HEAD')
    expect([head.statusCode, head.body]).toEqual([200, ''])
    for (const name of ['content-length', 'content-encoding', 'etag', 'vary']) {
      expect(head.headers[name], name).toBe(answer.headers[name])
    }
  })

  test('304 names the form that the caller has and takes', async () => {
    const { ask, plain, answer } = await compressed('gzip')
    const [text, gzip] = [String(plain.headers['etag']), String(answer.headers['etag'])]
    for (const tag of [text, gzip]) {
      const known = await ask({ 'if-none-match': tag })
      expect([known.statusCode, known.body, known.headers['etag']]).toEqual([304, '', tag])
      expect(known.headers['content-encoding']).toBeUndefined()
      expect(known.headers.vary).toBe('Accept-Encoding')
      expect(known.headers['cache-control']).toBe(answer.headers['cache-control'])
    }
    // A cache that has both forms revalidates for a caller that cannot decompress.
    const unpacked = { 'accept-encoding': 'identity', 'if-none-match': gzip }
    expect((await ask(unpacked)).statusCode).toBe(200)
    const both = { ...unpacked, 'if-none-match': `${gzip}, ${text}` }
    expect((await ask(both)).headers['etag']).toBe(text)
  })

  test('callers that do not accept it, or refuse everything, get plain text', async () => {
    const { ask, plain } = await compressed('br')
    for (const coding of ['identity', 'br;q=0', '*;q=0', 'zstd']) {
      const answer = await ask({ 'accept-encoding': coding })
      expect([answer.headers['content-encoding'], answer.body]).toEqual([undefined, plain.body])
    }
  })

  test('a kept answer counts against its limit, and 429 takes its place', async () => {
    const { app } = testApp()
    const statuses: number[] = []
    for (let at = 0; at < 61; at += 1) statuses.push((await app.inject(url)).statusCode)
    expect(statuses).toEqual([...Array(60).fill(200), 429])
  })

  test('errors are neither compressed nor kept', async () => {
    const { app } = testApp()
    for (let at = 0; at < 3; at += 1) {
      const bad = await app.inject({
        url: '/ai/vouchers?limit=0',
        headers: { 'accept-encoding': 'br', 'if-none-match': '*' },
      })
      expect(bad.statusCode).toBe(400)
      expect(bad.headers['cache-control']).toBe('no-store')
      expect(bad.headers['content-encoding']).toBeUndefined()
    }
  })
})

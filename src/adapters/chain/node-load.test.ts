import { HttpRequestError, LimitExceededRpcError, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { checksAtOnce, nodeLoad } from './node-load.ts'

const http = (status: number) =>
  new HttpRequestError({ body: {}, url: 'http://node', details: 'no', status })
const rpc = (code: number, message: string) =>
  new LimitExceededRpcError(
    new RpcRequestError({ body: {}, url: 'http://node', error: { code, message } }),
  )

test.each([
  ['429 of HTTP', http(429), true],
  ['a rate limit in JSON-RPC', rpc(-32_005, 'daily request rate limited'), true],
  ['a limit by the second', rpc(-32_007, '50/second request limit reached'), true],
  ['compute units', rpc(429, 'Your app has exceeded its compute units per second'), true],
  ['too many logs', rpc(-32_005, 'query returned more than 10000 results'), false],
  ['another status', http(503), false],
])('%s is a question too many: %s', (_, error, isOne) => {
  const load = nodeLoad()
  load.note(error)
  expect(load.isCrowded()).toBe(isOne)
})

test('a node is crowded for two seconds after a question too many, whatever it answers else', () => {
  let now = 0
  const load = nodeLoad(() => now)
  expect(load.isCrowded()).toBe(false)
  load.note(http(429))
  load.note()
  now = 1_999
  expect(load.isCrowded()).toBe(true)
  now = 2_000
  expect(load.isCrowded()).toBe(false)
})

test.each([
  ['as a rule', false, 100],
  ['at a crowded node', true, 4],
])(
  '%s so many payments are checked at once, and each that ends makes room',
  async (_, isCrowded, most) => {
    const bounded = checksAtOnce({ isCrowded: () => isCrowded })
    const ends: (() => void)[] = []
    const hanging = () => new Promise<string>((resolve) => ends.push(() => resolve('checked')))
    const all = Array.from({ length: most + 3 }, () => bounded(hanging, 'busy'))
    expect(await Promise.all(all.slice(most))).toEqual(['busy', 'busy', 'busy'])
    expect(ends).toHaveLength(most)
    ends[0]?.()
    expect(await all[0]).toBe('checked')
    const failing = bounded(() => Promise.reject(new Error('no')), 'busy')
    await expect(failing).rejects.toThrow('no')
    expect(await bounded(async () => 'checked', 'busy')).toBe('checked')
  },
)

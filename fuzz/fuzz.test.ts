import { expect, test } from 'vitest'
import { changed, type Input } from './inputs.ts'
import { faultOf, type Target, tryInput } from './trial.ts'

const input: Input = { method: 'GET', path: '/x', query: [], headers: {} }
const problem = { status: 404, code: 'not_found', detail: 'Nothing here.', requestId: 'r1' }

function verdict(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = { 'content-type': 'application/problem+json', 'x-request-id': 'r1', ...headers }
  return faultOf({}, { status, headers: all, body: text }, ['SESAME'])
}

test('a whole problem is a right answer', () => {
  expect(verdict(404, problem)).toBeUndefined()
})

test.each<[string, number, unknown, Record<string, string>?]>([
  ['a status of 500', 500, problem],
  ['503 without a payment that could land', 503, { ...problem, charged: 'unknown' }],
  ['the status of another problem', 400, problem],
  ['the id of another request', 404, { ...problem, requestId: 'r2' }],
  ['no JSON', 404, 'not found'],
  [
    'a stack',
    404,
    { ...problem, detail: 'no\n    at f (/x.ts:1:2)' },
    { 'content-type': 'text/html' },
  ],
  ['a secret in the body', 200, 'Open SESAME'],
  ['a secret in a header', 200, {}, { location: '/SESAME' }],
])('%s is a fault', (_, status, body, headers) => {
  expect(verdict(status, body, headers)).toBeTypeOf('string')
})

/** A store each of whose answers takes the next of these times. */
function storeTaking(times: number[]): Target {
  let spent = 0
  return {
    secrets: [],
    look: async () => ({ threadMs: spent }),
    prepare: async () => async () => {
      spent += times.shift() ?? 0
      return { status: 200, headers: {}, body: '' }
    },
  }
}

test('an input that holds the thread each time is a fault, and one that does it once is none', async () => {
  const slow = await tryInput(storeTaking([30, 40, 25, 31]), input)
  expect(slow.fault).toBe('it takes 25 ms of the main thread')
  expect((await tryInput(storeTaking([300, 40, 3, 31]), input)).fault).toBeUndefined()
})

test('a change replaces one part of a JSON value', () => {
  expect(changed({ a: { b: 1 } }, [[0, 'x']])).toEqual({ a: { b: 'x' } })
  expect(changed({ a: { b: 1 } }, [[1, 'x']])).toEqual({ a: 'x' })
  expect(changed([1, 2], [[2, null]])).toBeNull()
})

import { expect, test } from 'vitest'
import { type Answered, createDocumentCheck } from './harness/documented.ts'

const check = createDocumentCheck()
const live: Answered = {
  method: 'GET',
  route: '/livez',
  url: '/livez',
  status: 200,
  type: 'application/json; charset=utf-8',
  text: '{"status":"ok"}',
}
const refusal = { error: 'There is nothing at this address.' }

test('an answer as the document describes it is no finding', () => {
  expect(check(live)).toBeUndefined()
  expect(check({ ...live, method: 'HEAD', text: '' })).toBeUndefined()
})

test.each<[string, Partial<Answered>, RegExp]>([
  ['a status', { status: 418 }, /GET \/livez 418: the status is none of live/],
  ['a content type', { type: 'text/plain' }, /text\/plain is no content of live/],
  ['a path', { route: '/other/:id' }, /\/other\/:id 200 is no operation/],
  ['a method', { method: 'PUT' }, /PUT \/livez 200 is no operation/],
  ['a field', { text: '{"status":"ok","more":1}' }, /\(live\): the answer must NOT .* more/],
  ['a value', { text: '{"status":"well"}' }, /\(live\): \/status must be equal to constant/],
  ['a missing field', { text: '{}' }, /must have required property 'status'/],
])('%s that it does not know is a finding', (_, change, finding) => {
  expect(check({ ...live, ...change })).toMatch(finding)
})

test('where there is no operation, only refusals are answered', () => {
  const nowhere = { ...live, route: undefined, url: '/ai/nothing', status: 404 }
  expect(check({ ...nowhere, text: JSON.stringify(refusal) })).toBeUndefined()
  expect(check({ ...nowhere, url: '/nothing', text: JSON.stringify(refusal) })).toMatch(/detail/)
  expect(check({ ...nowhere, status: 200 })).toMatch(/where there is no operation/)
})

test('pages and their assets are not looked at', () => {
  expect(check({ ...live, route: '/errors', type: 'text/html' })).toBeUndefined()
})

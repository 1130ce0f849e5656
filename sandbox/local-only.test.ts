import { expect, test } from 'vitest'
import { openPart } from './part.ts'

const statusOf = async (headers: Record<string, string>) => {
  const app = openPart('test', () => new Error('not JSON'))
  app.get('/', async () => ({}))
  return (await app.inject({ url: '/', headers })).statusCode
}

test.each([
  { host: 'localhost:1' },
  { host: '127.0.0.1:21000' },
  { host: '[::1]:1', origin: 'http://localhost:8402' },
])('a part of the sandbox answers %o', async (headers) => {
  expect(await statusOf(headers)).toBe(200)
})

test.each([
  { host: 'evil.example' },
  { host: '127.0.0.1.evil.example' },
  { host: 'localhost', origin: 'https://evil.example' },
  { host: 'localhost', origin: 'null' },
  { host: 'localhost', origin: 'http://localhost.evil.example' },
])('and refuses %o, which a page of others sends', async (headers) => {
  expect(await statusOf(headers)).toBe(403)
})

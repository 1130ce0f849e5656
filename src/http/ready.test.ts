import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { StoreDeps } from '../api/operation.ts'
import { ready } from '../api/store.ts'
import { createHealth } from '../health/health.ts'
import { routeStoreOperations } from './routes.ts'

const token = 'sixteen-letters-'
const fault = 'connect ECONNREFUSED 10.0.0.7:5432'

/** The probe of a store whose database is down. */
function probed(access: { token: string | undefined; isOpenHere: boolean }) {
  const app = Fastify()
  const health = createHealth(() => new Date())
  for (let time = 0; time < 9; time += 1) health.note('database', false, fault)
  const deps: Partial<StoreDeps> = { health, draining: new AbortController().signal }
  routeStoreOperations(app, deps as StoreDeps, [ready], access)
  const ask = (headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
    app.inject({ url: '/readyz', remoteAddress, headers: { host: 'localhost:8402', ...headers } })
  return { ask }
}

test('strangers read which part is down, and the operator why as well', async () => {
  const { ask } = probed({ token, isOpenHere: true })
  for (const headers of [{}, { authorization: 'Bearer another-one-here' }]) {
    const { statusCode, body } = await ask(headers)
    expect(statusCode).toBe(503)
    expect(JSON.parse(body).parts.database).toEqual({ state: 'down' })
    expect(body).not.toContain('detail')
  }
  const told = await ask({ authorization: `Bearer ${token}` }, '203.0.113.7')
  expect(told.statusCode).toBe(503)
  expect(told.json().parts.database).toEqual({ state: 'down', detail: fault })
})

test('a sandbox without a token tells its own machine, and no proxy on it', async () => {
  const { ask } = probed({ token: undefined, isOpenHere: true })
  expect((await ask()).body).toContain(fault)
  for (const stranger of [ask({}, '203.0.113.7'), ask({ 'x-forwarded-for': '203.0.113.7' })])
    expect((await stranger).body).not.toContain('detail')
})

import fastify from 'fastify'
import { expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { holdPort } from './port.ts'

test('a port is held from the first look on, answers 503, and goes to the store without a gap', async () => {
  const at = { host: '127.0.0.1', port: await freePort() }
  const url = `http://127.0.0.1:${at.port}`
  const held = await holdPort(at)
  const taken = `PORT ${at.port} is taken on 127.0.0.1; set another one`
  await expect(holdPort(at)).rejects.toThrow(taken)
  const starting = await fetch(url)
  expect([starting.status, starting.headers.get('retry-after')]).toEqual([503, '1'])

  const app = fastify()
  app.get('/', () => 'open')
  const refused: unknown[] = []
  const asking = { isOver: false }
  const visitor = (async () => {
    while (!asking.isOver) await fetch(url).catch((error) => refused.push(error))
  })()
  await held.handTo(app)
  asking.isOver = true
  await visitor
  expect(refused).toEqual([])
  expect(await (await fetch(url)).text()).toBe('open')
  await expect(holdPort(at)).rejects.toThrow(taken)
  await app.close()
  await expect(fetch(url)).rejects.toThrow()
})

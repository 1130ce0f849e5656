import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { routeLive } from './live.ts'
import { createRooms, type Listener, roomBounds } from './rooms.ts'

/** A server with a live page for each name, and a count of the looks at each. */
async function liveServer() {
  const versions = new Map<string, string>()
  const looks: string[] = []
  const app = Fastify()
  app.register(async (pages) => {
    routeLive(pages, '/pages/:name', async (request) => {
      const { name } = request.params as { name: string }
      looks.push(name)
      const version = versions.get(name)
      if (version === undefined) throw Object.assign(new Error('none'), { statusCode: 404 })
      return version
    })
    routeLive(pages, '/others/:name', async () => 'o')
    pages.get('/size', async () => String(pages.liveRooms?.size()))
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const size = async () => Number(await (await fetch(`${url}/size`)).text())
  return { app, url, versions, looks, size }
}

let server: Awaited<ReturnType<typeof liveServer>>
beforeEach(async () => {
  server = await liveServer()
})
afterEach(async () => {
  const closed = server.app.close()
  // The client keeps connections open on which it has sent no request.
  server.app.server.closeAllConnections()
  await closed
})

/** Listens, and reads events until the text is among them. */
async function listen(path: string) {
  const leaving = new AbortController()
  const answer = await fetch(`${server.url}${path}`, { signal: leaving.signal })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  return {
    answer,
    leave: () => leaving.abort(),
    async until(text: string) {
      while (!heard.includes(text)) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
        if (done) throw new Error(`It ended with: ${heard}`)
        heard += value
      }
      return heard
    },
    async end() {
      for (;;) if ((await reader?.read())?.done ?? true) return
    },
  }
}

async function untilSize(most: number) {
  while ((await server.size()) > most) await sleep(5)
}

describe('a live page', () => {
  test('tells its version at once, and again when it is another one', async () => {
    server.versions.set('a', 'one')
    const { answer, until, leave } = await listen('/pages/a/live')
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
    expect(await until('data: one\n\n')).toContain('retry: 2000\n\n')
    server.versions.set('a', 'two')
    await until('data: two\n\n')
    leave()
    await untilSize(0)
  })

  test('is polled with ?once', async () => {
    server.versions.set('a', 'one')
    const answer = await fetch(`${server.url}/pages/a/live?once`)
    expect(await answer.text()).toBe('one')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await server.size()).toBe(0)
  })

  test('that is none is answered as its page would be', async () => {
    expect((await fetch(`${server.url}/pages/none/live`)).status).toBe(404)
    expect(await server.size()).toBe(0)
  })

  test('opens no stream for HEAD, which nobody would read', async () => {
    server.versions.set('a', 'one')
    const answer = await fetch(`${server.url}/pages/a/live`, { method: 'HEAD' })
    expect([answer.status, await server.size()]).toEqual([404, 0])
  })

  test('lets everybody go when the store closes', async () => {
    server.versions.set('a', 'one')
    const { until, end } = await listen('/pages/a/live')
    await until('data: one')
    await Promise.all([server.app.close(), end()])
  })

  test('lets its listeners go when it cannot be looked at', async () => {
    server.versions.set('a', 'one')
    const { until, end } = await listen('/pages/a/live')
    await until('data: one')
    server.versions.delete('a')
    await end()
    await untilSize(0)
  })
})

test('a browser has so many listeners and no more, whatever the page', async () => {
  server.versions.set('a', 'one')
  const paths = Array.from({ length: roomBounds.maxPerVisitor }, (_, at) =>
    at % 2 === 0 ? '/pages/a/live' : '/others/b/live',
  )
  const listeners = await Promise.all(paths.map(listen))
  const refused = await listen('/pages/a/live')
  await refused.end()
  expect(refused.answer.status).not.toBe(200)
  expect(await server.size()).toBe(roomBounds.maxPerVisitor)
  listeners[0]?.leave()
  await untilSize(roomBounds.maxPerVisitor - 1)
  const next = await listen('/pages/a/live')
  expect(next.answer.status).toBe(200)
  for (const { leave } of [...listeners, next]) leave()
  await untilSize(0)
})

describe('a room', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const bounds = { ...roomBounds, most: 3, maxPerVisitor: 2 }

  /** A place whose version the test sets and whose looks it counts, and listeners that record what they are told. */
  function placeAt(room: string, visitor: string) {
    const state = { version: '1', looks: 0, failures: 0, isAway: false }
    const look = async () => {
      state.looks += 1
      if (state.isAway) throw new Error('away')
      return state.version
    }
    const failed = () => {
      state.failures += 1
    }
    return { state, place: { room, visitor, look, failed } }
  }
  function noting() {
    const heard: string[] = []
    const listener: Listener = {
      tell: (version) => heard.push(version),
      pulse: () => heard.push('.'),
      end: () => heard.push('end'),
    }
    return { heard, listener }
  }

  test('looks once a second for all of its listeners, and not when it is empty', async () => {
    const rooms = createRooms(bounds)
    const { state, place } = placeAt('a', 'v')
    const [one, two] = [noting(), noting()]
    const leaveOne = rooms.enter(place, one.listener, '1')
    const leaveTwo = rooms.enter(place, two.listener, '1')
    await vi.advanceTimersByTimeAsync(3_000)
    expect(state.looks).toBe(3)
    state.version = '2'
    await vi.advanceTimersByTimeAsync(1_000)
    expect([one.heard, two.heard]).toEqual([
      ['1', '2'],
      ['1', '2'],
    ])
    leaveOne?.()
    leaveOne?.()
    expect(rooms.size()).toBe(1)
    leaveTwo?.()
    await vi.advanceTimersByTimeAsync(10_000)
    expect([state.looks, rooms.size(), vi.getTimerCount()]).toEqual([4, 0, 0])
  })

  test('tells a listener who read the page just before a change, while the room saw it', async () => {
    const rooms = createRooms(bounds)
    const { state, place } = placeAt('a', 'v')
    const [one, two] = [noting(), noting()]
    const leaveOne = rooms.enter(place, one.listener, '1')
    state.version = '2'
    await vi.advanceTimersByTimeAsync(1_000)
    const leaveTwo = rooms.enter(place, two.listener, '1')
    await vi.advanceTimersByTimeAsync(1_000)
    expect([one.heard, two.heard]).toEqual([
      ['1', '2'],
      ['1', '2'],
    ])
    leaveOne?.()
    leaveTwo?.()
  })

  test('keeps its connections alive, and ends each in the end', async () => {
    const rooms = createRooms(bounds)
    const { heard, listener } = noting()
    const leave = rooms.enter(placeAt('a', 'v').place, listener, '1')
    await vi.advanceTimersByTimeAsync(bounds.pulseMs)
    expect(heard).toEqual(['1', '.'])
    await vi.advanceTimersByTimeAsync(bounds.lifeMs)
    expect(heard).toContain('end')
    leave?.()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('says why it could not look, and lets everybody go', async () => {
    const rooms = createRooms(bounds)
    const { state, place } = placeAt('a', 'v')
    const { heard, listener } = noting()
    const leave = rooms.enter(place, listener, '1')
    state.isAway = true
    await vi.advanceTimersByTimeAsync(1_000)
    expect([heard, state.failures]).toEqual([['1', 'end'], 1])
    leave?.()
  })

  test('has seats for one visitor and for all, and none once it is closed', () => {
    const rooms = createRooms(bounds)
    const enter = (visitor: string) =>
      rooms.enter(placeAt('a', visitor).place, noting().listener, '1')
    const first = enter('v')
    enter('v')
    expect(enter('v')).toBeUndefined()
    expect(enter('w')).toBeTypeOf('function')
    expect(enter('x')).toBeUndefined()
    first?.()
    rooms.close()
    expect(enter('y')).toBeUndefined()
  })
})

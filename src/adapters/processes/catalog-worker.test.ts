import { execFile, spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { constants, getPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKey, ask, startTestSupplier } from '../../../sandbox/supplier/client.fixture.ts'
import type { Supplier } from '../../../sandbox/supplier/server.ts'
import { testApp } from '../../../test/fixtures/app.ts'
import { basisOf, catalogWorkerOf, plainListing } from '../../../test/fixtures/catalog.ts'
import { fixtureNow, fixturePricing, topup } from '../../../test/fixtures/offers.ts'
import { type StoryProxy, startProxy } from '../../../test/harness/proxy.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import { kinds } from '../../catalog/good.ts'
import { packOffers } from '../../catalog/offer-records.ts'
import type { CatalogWorker, Snapshot } from '../../catalog/ports.ts'
import { createZenditClient } from '../../suppliers/zendit/client.ts'
import { createZenditOffers } from '../../suppliers/zendit/offers.ts'
import { createCatalogWorker } from './catalog-worker.ts'
import { messageOf } from './message.ts'

let sandbox: Supplier
let proxy: StoryProxy

beforeAll(async () => {
  sandbox = await startTestSupplier({ offers: 300 })
  proxy = await startProxy(sandbox.url)
})
afterAll(async () => {
  await proxy.close()
  await sandbox.stop()
})

const siteUrl = 'https://kiosk.example'
const pricing = fixturePricing({ markupBps: 250 })
const basis = basisOf(pricing)
const { signal } = new AbortController()

/** A worker that calls the supplier through the proxy, which records the calls. */
function roomAt(url = proxy.url): CatalogWorker {
  const suppliers = { zendit: { url: `${url}/v1`, key: apiKey } }
  const environment = { atStart: process.env, told: {} }
  return createCatalogWorker({ suppliers, siteUrl, environment })
}

/** The same work in this process. */
function roomHere(): CatalogWorker {
  const source = createZenditOffers(
    createZenditClient({ baseUrl: `${proxy.url}/v1`, apiKey, timeoutMs: 60_000 }),
  )
  return catalogWorkerOf({ list: async (given) => plainListing(await source.list(given)) })
}

async function madeIn(room: CatalogWorker) {
  const list = await room.read('zendit', signal)
  const snapshot: Snapshot = { ...list, readAt: fixtureNow }
  return { list, catalog: await room.build(snapshot, basis, signal) }
}

describe('a list read and a catalog made in processes of their own', () => {
  test('are the same as those made here and now', async () => {
    const [there, here] = [await madeIn(roomAt()), await madeIn(roomHere())]
    expect(there.list).toEqual(here.list)
    expect(there.list.offers.count).toBeGreaterThan(200)
    const { version, size, lowest, readAt, rejected, stale } = there.catalog
    expect({ version, size, lowest, readAt, rejected, stale }).toEqual({
      version: here.catalog.version,
      size: here.catalog.size,
      lowest: here.catalog.lowest,
      readAt: fixtureNow,
      rejected: here.catalog.rejected,
      stale: '',
    })
    for (const kind of kinds) {
      expect(there.catalog.listed[kind].size).toBe(here.catalog.listed[kind].size)
      expect(there.catalog.sold[kind].size).toBe(here.catalog.sold[kind].size)
      const offer = here.catalog.listed[kind].offerAt(3)
      expect(there.catalog.find(offer.id)).toEqual(offer)
    }
    const urls = ['/ai/vouchers?search=a', '/ai/esims', '/api/catalog/topups/offers?limit=100']
    const bodiesOf = async ({ catalog }: typeof here) => {
      const { app } = testApp({ liveCatalog: createLiveCatalog(catalog), pricing })
      const bodies = urls.map(async (url) => (await app.inject(url)).body)
      return Promise.all(bodies)
    }
    expect(await bodiesOf(there)).toEqual(await bodiesOf(here))
  })

  test('ask for each brand once, however often the list is read', async () => {
    const room = roomAt()
    const asked = () => proxy.calls.filter((call) => call.startsWith('GET /v1/brands/'))
    proxy.calls.length = 0
    const first = await room.read('zendit', signal)
    const brands = asked()
    expect(brands.length).toBeGreaterThan(3)
    expect(new Set(brands).size).toBe(brands.length)
    const second = await room.read('zendit', signal)
    expect(asked()).toEqual(brands)
    expect(second).toEqual(first)
    // The offers are read anew each time.
    expect(proxy.calls.filter((call) => call.includes('/vouchers/offers')).length).toBe(2)
  })

  test('leave the list as it is, to be built from again', async () => {
    const { list, catalog } = await madeIn(roomAt())
    const again = await roomAt().build({ ...list, readAt: fixtureNow }, basis, signal)
    expect(again.version).toBe(catalog.version)
    // No listener is left on the signal of the whole store.
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(again.find(catalog.listed.topup.offerAt(0).id)).toBeDefined()
  })
})

describe('what goes wrong in a process of its own', () => {
  test('a supplier that is down is told as it is told without processes', async () => {
    await ask(`${sandbox.url}/_admin/faults`, { mode: 'down' })
    try {
      const reason =
        'The voucher offers: /vouchers/offers?_limit=1024&_offset=0 was answered with 503'
      await expect(roomAt().read('zendit', signal)).rejects.toThrow(reason)
      await expect(roomHere().read('zendit', signal)).rejects.toThrow(reason)
    } finally {
      await ask(`${sandbox.url}/_admin/faults`, { mode: 'ok' })
    }
  })

  test('a supplier that is not there is told too, and the next list is read all the same', async () => {
    const room = roomAt()
    proxy.breakCalls((call) => (call.includes('/offers') ? 'lose_answer' : 'none'))
    await expect(room.read('zendit', signal)).rejects.toThrow(
      /^The voucher offers: \/vouchers\/offers/,
    )
    proxy.breakCalls()
    expect((await room.read('zendit', signal)).offers.count).toBeGreaterThan(200)
  })

  test('a list that is damaged makes no catalog', async () => {
    const offers = packOffers([topup('A')])
    offers.bytes.fill(0)
    const damaged = { offers, readAt: fixtureNow, rejected: {} }
    await expect(roomAt().build(damaged, basis, signal)).rejects.toThrow(/\w+/)
  })
})

test('a refresh without a free file descriptor fails, and the store goes on', async () => {
  const script = `
    import { openSync } from 'node:fs'
    import { createCatalogWorker } from '${new URL('./catalog-worker.ts', import.meta.url)}'
    const environment = { atStart: process.env, told: {} }
    const worker = createCatalogWorker({ suppliers: { zendit: {} }, siteUrl: '', environment })
    console.log('begins')
    try { for (;;) openSync('/dev/null') } catch {}
    await worker.read('zendit', new AbortController().signal).catch(({ code }) => console.log(code))
    setImmediate(() => console.log('goes on'))`
  const command = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"'
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script])
  expect(stdout).toBe('begins\nEMFILE\ngoes on\n')
})

/** A server that accepts calls and never answers. */
async function startSilent() {
  const server = createServer(() => {})
  const connected = once(server, 'connection') as Promise<[Socket]>
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { server, connected, asked: once(server, 'request'), url: `http://127.0.0.1:${port}` }
}

test.skipIf(!existsSync('/proc/self/environ'))(
  'a process shows nobody the variables that it is told',
  async () => {
    const { server, url } = await startSilent()
    const tunnelled = once(server, 'connect') as Promise<[IncomingMessage, Socket]>
    const { PATH } = process.env
    const told = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url.replace('//', '//me:password@') }
    const room = createCatalogWorker({
      suppliers: { zendit: { url: 'http://supplier.example/v1', key: apiKey } },
      siteUrl,
      environment: { atStart: { PATH }, told },
    })
    const stop = new AbortController()
    const reading = expect(room.read('zendit', stop.signal)).rejects.toThrow('seen')
    // It calls through the proxy that it received on standard input.
    const [{ url: called }, socket] = await tunnelled
    expect(called).toBe('supplier.example:80')
    const shown = childPids().flatMap((pid) => shownBy(pid))
    expect(shown).toContainEqual(expect.stringContaining('catalog-process.ts'))
    expect(shown.filter((text) => text.includes('password'))).toEqual([])
    stop.abort(new Error('seen'))
    await reading
    socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  },
)

test.skipIf(!existsSync('/proc/self/environ'))(
  'a process gives way to the store once there is a catalog to answer from',
  async () => {
    const { server, url } = await startSilent()
    const room = roomAt(url)
    const priorityOfRead = async () => {
      const stop = new AbortController()
      const asked = once(server, 'request')
      const reading = expect(room.read('zendit', stop.signal)).rejects.toThrow('seen')
      await asked
      const pid = childPids().find((child) => shownBy(child).join().includes('catalog-process.ts'))
      const priority = getPriority(Number(pid))
      stop.abort(new Error('seen'))
      await reading
      return priority
    }
    expect(await priorityOfRead()).toBe(getPriority())
    await room.build(
      { offers: packOffers([topup('A')]), readAt: fixtureNow, rejected: {} },
      basis,
      signal,
    )
    expect(await priorityOfRead()).toBe(constants.priority.PRIORITY_LOW)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  },
)

const childPids = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')

/** The environment and command line of a process, as others can read them. Empty if it has ended. */
function shownBy(pid: string): string[] {
  try {
    return ['environ', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'))
  } catch {
    return []
  }
}

test('a process whose store has ended ends without a word', async () => {
  const program = fileURLToPath(new URL('../../app/catalog-process.ts', import.meta.url))
  const { PATH } = process.env
  const stdio = ['pipe', 'inherit', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [program], { env: { PATH }, stdio: [...stdio] })
  const ended = once(child, 'close') as Promise<[number]>
  const [stdin, , stderr, results] = child.stdio as unknown as [Writable, null, Readable, Readable]
  const said = text(stderr)
  results.destroy()
  const job = { type: 'build', offers: packOffers([topup('A')]), basis, siteUrl }
  for (const piece of messageOf({ job, environment: {}, givesWay: false })) stdin.write(piece)
  expect([(await ended)[0], await said]).toEqual([1, ''])
})

test('a process that ends before its work is done is told with how it ended', async () => {
  const room = createCatalogWorker({
    suppliers: { zendit: { url: 'http://supplier.example/v1', key: apiKey } },
    siteUrl,
    environment: { atStart: { NODE_OPTIONS: '--no-such-option' }, told: {} },
  })
  await expect(room.read('zendit', signal)).rejects.toThrow('ended without a result (status 9)')
})

describe('work that is stopped', () => {
  test('ends its process, which lets go of the supplier, and rejects', async () => {
    const { server, connected, asked, url } = await startSilent()
    const stop = new AbortController()
    const reading = expect(roomAt(url).read('zendit', stop.signal)).rejects.toThrow('closing time')
    await asked
    const [socket] = await connected
    const closed = once(socket, 'close')
    stop.abort(new Error('closing time'))
    await reading
    await closed
    await new Promise((resolve) => server.close(resolve))
  })

  test('rejects while a catalog is made', async () => {
    const stop = new AbortController()
    const offers = packOffers([topup('A')])
    const snapshot = { offers, readAt: fixtureNow, rejected: {} }
    const building = roomAt().build(snapshot, basis, stop.signal)
    stop.abort(new Error('closing time'))
    await expect(building).rejects.toThrow('closing time')
  })

  test('is not begun when it was stopped before', async () => {
    proxy.calls.length = 0
    const stopped = AbortSignal.abort(new Error('closed'))
    await expect(roomAt().read('zendit', stopped)).rejects.toThrow('closed')
    expect(proxy.calls).toEqual([])
  })
})

test('whoever answers goes on answering while a large catalog is made', async () => {
  const offers = Array.from({ length: 20_000 }, (_, at) => topup(`T${at}`, { brandName: `B${at}` }))
  const snapshot = { offers: packOffers(offers), readAt: fixtureNow, rejected: {} }
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, 1)
  try {
    const catalog = await roomAt().build(snapshot, basis, signal)
    expect(catalog.size).toBe(20_000)
    expect(ticks).toBeGreaterThan(5)
  } finally {
    clearInterval(timer)
  }
})

import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Metric, metrics } from '../../src/operations/metric-list.ts'
import { isSampleOf, selectorsIn } from '../harness/alert-rules.ts'
import { fronts, noOpenssl, placeFor, startFront, storeName } from '../harness/deployed.ts'
import { noRedis, type Redis, startRedis } from '../harness/redis.ts'
import { noServer } from '../harness/server.ts'
import { type Ask, anyClient, type Told } from '../harness/tls-client.ts'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bodyFor, eventually, get, type Kind, purchasePath } from './requests.ts'
import { openNode, openSibling, openStore, type Store } from './store.ts'

/*
 * The store as docs/operators/going-live.md puts it: two nodes behind nginx or Caddy as deploy/ has them, bought
 * at through TLS. Only addresses, ports and certificates are filled in.
 */

const metricsToken = 'a-token-for-the-scraper'
/** What deploy/store.env says, but for what ties it to a chain, a supplier and its machines. */
const { DRAIN_SECONDS = '' } = parseEnv(readFileSync('deploy/store.env', 'utf8'))

type Node = Awaited<ReturnType<typeof openNode>>
type Front = Awaited<ReturnType<typeof startFront>>

/** A node whose requests are seen as they come in, before the store does anything. */
interface Watched {
  readonly node: Node
  readonly arrivals: string[]
}

/** Has a node close the connection of a request that it has begun to carry out. */
const loses = 'x-story-loses'

function watched(node: Node): Watched {
  const arrivals: string[] = []
  node.service.app.server.prependListener('request', ({ method, url, headers, socket }) => {
    if (url !== '/readyz') arrivals.push(`${method} ${url}`)
    if (headers[loses] !== undefined) socket.destroy()
  })
  return { node, arrivals }
}

let store: Store
let redis: Redis | undefined
let nodes: [Watched, Watched]
beforeAll(async () => {
  if (noRedis === undefined) redis = await startRedis()
  store = await openStore({
    offers: 200,
    coins: {},
    env: {
      DRAIN_SECONDS,
      TRUSTED_PROXIES: '127.0.0.1',
      METRICS_TOKEN: metricsToken,
      ...(redis && { REDIS_URL: redis.url }),
    },
  })
  // Stopping the first node leaves the supplier there.
  nodes = [watched({ ...store, close: store.halt }), watched(await openSibling(store))]
})
afterAll(async () => {
  await Promise.all(nodes.map(({ node }) => node.close()))
  await store.close()
  await redis?.stop()
})

function forgetArrivals(): void {
  for (const { arrivals } of nodes) arrivals.length = 0
}

const arrivalsOf = (line: string) =>
  nodes.flatMap(({ arrivals }) => arrivals).filter((one) => one === line).length

const addressOf = ({ node }: Watched) => new URL(node.url).host

/** Asks for the price through a front, and signs it. */
async function paymentFor(ask: Ask, kind: Kind, body: Record<string, unknown>) {
  const asked = await eventually(
    () => ask(purchasePath(kind), { body }),
    ({ body: { code } }) => code !== 'store_paused',
  )
  expect(asked).toMatchObject({ status: 402 })
  expect(asked.headers['payment-required']).toMatch(/^[\w+/=]+$/)
  const buyer = await newBuyer()
  return { buyer, ...(await buyer.sign(asked.body.accepts[0])) }
}

describe.each(fronts)('behind $name', (server) => {
  const why = noServer(server) ?? noOpenssl
  let front: Front
  beforeAll(async () => {
    if (why !== undefined) return
    const [one, two] = nodes
    front = await startFront(server, await placeFor([addressOf(one), addressOf(two)]))
  })
  afterAll(() => front?.stop())
  beforeEach(forgetArrivals)

  test.skipIf(why ?? noRedis)(
    'clients are counted by their own addresses, whatever they write of them',
    async () => {
      const [one, other] = [anyClient(), anyClient()]
      const left = async (from: string, headers = {}) => {
        const { headers: answered } = await front.ask('/ai/vouchers?limit=1', { from, headers })
        return /r=(\d+)/.exec(String(answered['ratelimit']))?.[1]
      }
      expect(await left(one)).toBe('59')
      expect(await left(one, { 'x-forwarded-for': '192.0.2.1' })).toBe('58')
      expect(await left(one, { 'x-forwarded-for': other, forwarded: 'for=192.0.2.2' })).toBe('57')
      expect(await left(one, { 'x-real-ip': '192.0.2.3' })).toBe('56')
      expect(await left(other)).toBe('59')
    },
  )

  test.skipIf(why)(
    'a GET that pays reaches one node once, and no log has its address',
    async () => {
      const query = new URLSearchParams(bodyFor('voucher', 'OK') as Record<string, string>)
      const { body: quoted } = await front.ask(`${purchasePath('voucher')}?${query}`)
      const { pathname } = new URL(quoted.payableUrl)
      const asked = await front.ask(pathname)
      const { header } = await (await newBuyer()).sign(asked.body.accepts[0])
      forgetArrivals()
      const headers = { 'payment-signature': header, [loses]: 'yes' }
      expect((await front.ask(pathname, { headers })).body.code).toBe('try_again')
      expect(arrivalsOf(`GET ${pathname}`)).toBe(1)
      const logs = readdirSync(front.dir).filter((name) => name.endsWith('.log'))
      const texts = logs.map((name) => readFileSync(join(front.dir, name), 'utf8'))
      const logged = [front.said(), ...texts].join('')
      expect(logged.includes('/x402/')).toBe(server.name === 'nginx')
      expect(logged).not.toContain(pathname.slice(0, 60))
    },
  )

  test.skipIf(why)('a POST reaches one node once, also when its answer is lost', async () => {
    const path = purchasePath('topup')
    const body = bodyFor('topup', 'OK')
    const { header, buyer } = await paymentFor(front.ask, 'topup', body)
    const headers = {
      'payment-signature': header,
      'idempotency-key': `only-once-at-${server.name}`,
    }
    forgetArrivals()
    const lost = await front.ask(path, { headers: { ...headers, [loses]: 'yes' }, body })
    expect(lost).toMatchObject({
      status: 503,
      headers: { 'cache-control': 'no-store', 'retry-after': '5' },
      body: { code: 'try_again', charged: 'unknown', retryable: true },
    })
    // Without a body, too: HTTP clients may take a POST with such a key for one that can be repeated.
    const refund = '/api/catalog/orders/ord_00000000000000000000000000/refund'
    await front.ask(refund, { method: 'POST', headers: { ...headers, [loses]: 'yes' } })
    expect([arrivalsOf(`POST ${path}`), arrivalsOf(`POST ${refund}`)]).toEqual([1, 1])
    const again = await eventually(
      () => front.ask(path, { headers, body }),
      ({ status }) => status === 200,
    )
    expect(again.body.orders).toMatchObject([{ state: 'FULFILLED' }])
    expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toHaveLength(1)
  })

  test.skipIf(why)(
    'a node that drains, ends and comes back costs no client an answer',
    async () => {
      const [, leaving] = nodes
      const leavingCrowd = startCrowd(front.ask)
      const under = [buyHanging(front.ask), buyHanging(front.ask)]
      await eventually(
        () => arrivalsOf(`POST ${purchasePath('topup')}`),
        (seen) => seen >= 4,
      )
      const ended = leaving.node.close()
      // nginx asks nobody how they are: its operator takes the node out.
      const line = `server ${addressOf(leaving)}`
      if (server.name === 'nginx') await front.change((text) => text.replace(line, `${line} down`))
      await untilLeftAlone(front.ask, leaving)
      await ended
      expect((await Promise.all(under)).map(({ status }) => status)).toEqual([202, 202])
      expect(await leavingCrowd.stop()).toEqual([])
      // The one that is left answers nobody for a while, as on a machine that is busy with something else.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_500)
      for (let index = 0; index < 6; index += 1)
        expect(await askPrice(front.ask)).toMatchObject({ status: 402 })

      const comingCrowd = startCrowd(front.ask)
      const back = watched(await openNode(leaving.node.settings, store.parts))
      nodes = [nodes[0], back]
      if (server.name === 'nginx') await front.change((text) => text)
      await eventually(
        () => back.arrivals.length,
        (seen) => seen > 0,
      )
      expect(await comingCrowd.stop()).toEqual([])
    },
  )

  test.skipIf(why)(
    'everybody is sent to TLS, and nobody reads the metrics from outside',
    async () => {
      const moved = await plainly(front.plainPort, '/ai?limit=1')
      expect(moved.status).toBe(308)
      expect(moved.location).toMatch(new RegExp(`^https://${storeName}(:\\d+)?/ai\\?limit=1$`))
      const { headers } = await front.ask('/ai')
      expect(headers['strict-transport-security']).toMatch(/^max-age=\d{7,}/)
      const authorization = { authorization: `Bearer ${metricsToken}` }
      for (const path of ['/metrics', '/metrics/', '/%6detrics', '//metrics']) {
        const { status, text } = await front.ask(path, { headers: authorization })
        expect(status, path).toBe(404)
        expect(text).not.toContain('kiosk402_up')
      }
    },
  )
})

test('every metric that an alert asks for, with its labels, is there', async () => {
  // Requests are counted from the first one on.
  await get(store.url, '/ai')
  const { body } = await get(store.url, '/metrics', { authorization: `Bearer ${metricsToken}` })
  const samples = String(body).split('\n')
  const mayBeAbsent = Object.entries<Metric>(metrics)
    .filter(([, one]) => one.isSometimesAbsent)
    .map(([name]) => name)
  const missing = selectorsIn(readFileSync('deploy/alerts.yml', 'utf8')).filter(
    (selector) =>
      !mayBeAbsent.includes(selector.name) && !samples.some((line) => isSampleOf(selector, line)),
  )
  expect(missing).toEqual([])
})

const askPrice = (ask: Ask) => ask(purchasePath('topup'), { body: bodyFor('topup', 'OK') })

async function buyHanging(ask: Ask): Promise<Told> {
  const body = bodyFor('topup', 'HANG')
  const { header } = await paymentFor(ask, 'topup', body)
  return ask(purchasePath('topup'), { headers: { 'payment-signature': header }, body })
}

/** Clients that ask all the time, until they are stopped. Gives what they heard that they should not. */
function startCrowd(ask: Ask) {
  const isOver = new AbortController()
  const strange: string[] = []
  const client = async (method: string, once: () => Promise<Told>, good: number) => {
    while (!isOver.signal.aborted) {
      const heard = await once().then(
        ({ status, text }) => (status === good ? undefined : `${method}: ${status} ${text}`),
        (error: unknown) => `${method}: ${error}`,
      )
      if (heard !== undefined) strange.push(heard)
      // The front must notice that a node leaves, not that the machine is busy with this crowd.
      await delay(25)
    }
  }
  const posts = Array.from({ length: 4 }, () => client('POST', () => askPrice(ask), 402))
  const clients = [client('GET', () => ask('/ai'), 200), ...posts]
  return {
    async stop() {
      isOver.abort()
      await Promise.all(clients)
      return strange
    },
  }
}

/** Until a node hears nothing of what a front is asked, while it still listens. */
async function untilLeftAlone(ask: Ask, { arrivals }: Watched): Promise<void> {
  await eventually(
    async () => {
      const seen = arrivals.length
      for (let index = 0; index < 20; index += 1) await ask('/ai')
      return arrivals.length - seen
    },
    (grown) => grown === 0,
  )
}

/** Asks without TLS. */
function plainly(port: number, path: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined
    location: string | undefined
  }>()
  const headers = { host: storeName }
  request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
    answer.resume()
    resolve({ status: answer.statusCode, location: answer.headers.location })
  })
    .on('error', reject)
    .end()
  return promise
}

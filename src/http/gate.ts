import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Refusal } from '../lib/refusal.ts'

/** At most `limit` requests of a client in a window, which begins with its first request. */
interface LimitRule {
  readonly name: string
  readonly limit: number
  readonly windowSeconds: number
}

const minute = { windowSeconds: 60 }
const hour = { windowSeconds: 3_600 }

export const limitRules = {
  discovery: { name: 'discovery', limit: 60, ...minute },
  reading: { name: 'reading', limit: 300, ...minute },
  purchase: { name: 'purchase', limit: 60, ...minute },
  /** Payments and sign-ins that were not accepted, and unknown ICCIDs. */
  refused: { name: 'refused', limit: 20, ...minute },
  /** Checkouts that a visitor has started, each with an invoice of the payment processor. */
  checkout: { name: 'checkout', limit: 30, ...hour },
  mail: { name: 'mail', limit: 10, ...hour },
  /** The same mail to one address, for all visitors together. */
  mailbox: { name: 'mailbox', limit: 1, windowSeconds: 900 },
  /** All mails to one address that one kind of page sends, for all visitors together. */
  mailing: { name: 'mailing', limit: 6, ...hour },
} as const satisfies Readonly<Record<string, LimitRule>>

export type LimitName = keyof typeof limitRules
export type Limits = Readonly<Record<LimitName, RateLimiter>>

/** Makes the counter of each limit, in this process or shared with other nodes. */
export type CounterFactory = (rule: LimitRule) => RateLimiterAbstract

export function createLimits(counterOf: CounterFactory = countingHere): Limits {
  const limits = Object.entries(limitRules).map(([name, rule]) => [
    name,
    limiterOf(rule, counterOf(rule)),
  ])
  return Object.fromEntries(limits)
}

export function countingHere({ name, limit, windowSeconds }: LimitRule): RateLimiterMemory {
  return new RateLimiterMemory({ keyPrefix: name, points: limit, duration: windowSeconds })
}

export type RateLimiter = ReturnType<typeof limiterOf>

export function limiterOf(rule: LimitRule, counter: RateLimiterAbstract) {
  return {
    ...rule,
    async consume(client: string): Promise<RateLimitResult> {
      try {
        return resultOf(true, await counter.consume(client))
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return resultOf(false, refused)
        throw refused
      }
    },
    /** Whether one more request would be allowed now, without counting it. */
    async peek(client: string): Promise<RateLimitResult> {
      const counted = await counter.get(client)
      if (counted === null || counted.msBeforeNext <= 0) {
        return { allowed: true, remaining: rule.limit, resetSeconds: rule.windowSeconds }
      }
      return resultOf(counted.consumedPoints < rule.limit, counted)
    },
  }
}

type RateLimitResult = ReturnType<typeof resultOf>

function resultOf(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes) {
  /** Whole seconds, at least 1, after which the whole limit is allowed again. */
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000))
  return { allowed, remaining: remainingPoints, resetSeconds }
}

/** The headers of every answer of a limited path (draft-ietf-httpapi-ratelimit-headers). */
function rateLimitHeaders(
  { name, limit, windowSeconds }: LimitRule,
  { remaining, resetSeconds }: RateLimitResult,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  }
}

/**
 * Counts by an IPv4 address, also one mapped into IPv6, or the /64 of an IPv6 address, which one subscriber has to itself.
 * Texts that are no address count as one client, so that nobody can pose as a new one each time.
 */
export function clientKeyOf(address: string): string {
  const [plain = ''] = address.split('%')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'no address'
  const parsed = ipaddr.process(plain)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const prefix = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** Refuses before the body is read: no host (400), too many requests (429), an unknown path (404) or method (405). */
export function guardRequests(app: FastifyInstance, limits: Limits, routes: RouteTable): void {
  app.addHook('onRequest', async (request, reply) => {
    requireHost(request)
    reply.header('x-request-id', request.id)
    const knownPath = request.is404 ? routes.find(pathOf(request.raw.url ?? '')) : undefined
    const name = (knownPath ?? request.routeOptions).config?.limit
    const refusal = name && (await takeFrom(limits[name], request, reply))
    if (refusal) await holdUp(limits, request, refusal)
    if (knownPath !== undefined) throw methodNotAllowed(request.method, knownPath.methods, reply)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is nothing at this address.')
  })
}

/** RFC 9112, section 3.2. */
function requireHost({ headers, raw }: FastifyRequest): void {
  if (headers.host !== undefined || raw.httpVersion !== '1.1') return
  const message = 'HTTP/1.1 requires the header Host.'
  throw new Refusal('invalid_header', message, { parameter: 'Host' })
}

/** Counts a request, and sets the headers of the limit. @returns the refusal above the limit */
export async function takeFrom(
  limiter: RateLimiter,
  { ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<Refusal | undefined> {
  const taken = await limiter.consume(clientKeyOf(ip))
  reply.headers(rateLimitHeaders(limiter, taken))
  return taken.allowed ? undefined : tooMany(limiter, taken, 'requests')
}

function tooMany(
  { limit, windowSeconds }: LimitRule,
  { resetSeconds: retryAfterSeconds }: RateLimitResult,
  what: string,
): Refusal {
  const message = `More than ${limit} ${what} in ${windowSeconds} seconds; try again in ${retryAfterSeconds}.`
  return new Refusal('rate_limited', message, { retryAfterSeconds })
}

/**
 * A caller above a limit who repeats a payment must not be told to wait as if there were no order. Looking for it
 * counts against the reading limit of the address, which nobody at another address can use up.
 *
 * @throws Refusal the given one
 */
async function holdUp(
  { reading }: Pick<Limits, 'reading'>,
  request: FastifyRequest,
  refusal: Refusal,
): Promise<void> {
  if (request.heldUp !== undefined) return
  const findsOrders = request.routeOptions.config?.findsOrders ?? false
  if (!findsOrders || !mayBringPayment(request)) throw refusal
  const looked = await reading.consume(clientKeyOf(request.ip))
  if (!looked.allowed) throw refusal
  request.heldUp = refusal
}

const choice = new Intl.ListFormat('en', { type: 'disjunction' })

function methodNotAllowed(
  method: string,
  methods: ReadonlySet<string>,
  reply: FastifyReply,
): Refusal {
  reply.header('allow', [...methods, 'OPTIONS'].sort().join(', '))
  return new Refusal(
    'method_not_allowed',
    `${method} is not allowed here; use ${choice.format([...methods].sort())}.`,
  )
}

/**
 * Checking an invalid signature costs calls to the chain. Accepted proofs do not count; those that could not be
 * checked do. It counts by client address and never by the payer that a payment names: anyone could lock out someone
 * else.
 */
export function limitRefusedProofs(app: FastifyInstance, limits: Limits): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!carriesProof(request)) return
    const refusal = await lookAtRefused(limits.refused, request, reply)
    if (refusal) await holdUp(limits, request, refusal)
  })
  app.addHook('onResponse', async (request, { statusCode }) => {
    if (!carriesProof(request)) return
    if (request.provesNothing || isNotAccepted(statusCode)) {
      await countRefused(limits.refused, request)
    }
  })
}

export async function lookAtRefused(
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Refusal | undefined> {
  const looked = await limiter.peek(clientKeyOf(request.ip))
  if (looked.allowed) return undefined
  reply.headers(rateLimitHeaders(limiter, looked))
  return tooMany(limiter, looked, 'payments, sign-ins or ICCIDs were refused')
}

export async function countRefused(limiter: RateLimiter, { ip }: FastifyRequest): Promise<void> {
  await limiter.consume(clientKeyOf(ip))
}

export function isNotAccepted(status: number): boolean {
  return status === 401 || status === 402
}

function carriesProof({ headers }: FastifyRequest): boolean {
  return Boolean(headers['payment-signature'] || headers['sign-in-with-x'])
}

/** Whether a request may have a payment, valid or not: in its headers, or in a body that has not been read yet. */
export function mayBringPayment(request: FastifyRequest): boolean {
  const { mayBringPayment: inBody } = request.routeOptions.config ?? {}
  return inBody ? inBody(request) : Boolean(request.headers['payment-signature'])
}

/** More requests under way than agents or people behind one address need. */
export const maxAtOnce = 64
/** Of these, the reads that are worked on at a time; the others wait. No read waits for anything outside. */
const maxReads = 2
/** While connections arrive, so many of them are accepted before the next read of an address begins. */
const arrivalsBetween = 32

interface Client {
  underWay: number
  reading: number
  readonly waiting: Set<() => void>
}

/**
 * Keeps one client address from delaying the others. Above {@link maxAtOnce} its requests are refused, except probes.
 */
export function limitAtOnce(app: FastifyInstance, limits: Pick<Limits, 'reading'>): void {
  const clients = new Map<string, Client>()
  const betweenArrivals = arrivalsOf(app)
  app.addHook('onRequest', (request, reply, done) => {
    const key = clientKeyOf(request.ip)
    const client = clients.get(key) ?? { underWay: 0, reading: 0, waiting: new Set() }
    const { limit, isProbe, findsOrders } = request.routeOptions.config ?? {}
    const isRead = request.method === 'GET' && limit !== undefined && !findsOrders
    const beginRead = () => {
      client.waiting.delete(beginRead)
      client.reading += 1
      done()
    }
    const beginNextRead = () => {
      const [waitingRead] = client.waiting
      if (client.reading < maxReads) waitingRead?.()
    }
    const end = (what: 'underWay' | 'reading') => {
      client[what] -= 1
      if (client.underWay + client.reading === 0) clients.delete(key)
    }
    const leave = () => {
      end('underWay')
      // One that has hung up before its turn is not worked for.
      if (!isRead || client.waiting.delete(beginRead)) return
      betweenArrivals(() => {
        end('reading')
        beginNextRead()
      })
    }
    const enter = () => {
      if (reply.raw.destroyed) return
      clients.set(key, client)
      client.underWay += 1
      reply.raw.once('close', leave)
      if (!isRead) return done()
      client.waiting.add(beginRead)
      beginNextRead()
    }
    if (isProbe || client.underWay < maxAtOnce) return enter()
    reply.header('x-request-id', request.id)
    const message = `More than ${maxAtOnce} requests at once; try again when some are answered.`
    const refusal = new Refusal('rate_limited', message, { retryAfterSeconds: 1 })
    holdUp(limits, request, refusal).then(enter, done)
  })
}

/**
 * Does work when no connection arrives any more, or enough of them have: Node accepts one in each turn of the event
 * loop, so a client behind hundreds of them is reached soon only if most turns are short.
 */
function arrivalsOf(app: FastifyInstance): (resume: () => void) => void {
  let arrivals = 0
  app.server.on('connection', () => {
    arrivals += 1
  })
  return (resume) => {
    const first = arrivals
    // The first look may still come in the same turn.
    let lastArrivals = -1
    const look = () => {
      const isQuiet = arrivals === lastArrivals
      lastArrivals = arrivals
      if (isQuiet || arrivals - first >= arrivalsBetween) resume()
      else setImmediate(look)
    }
    setImmediate(look)
  }
}

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: Set<string>
  config: FastifyContextConfig
}

export type RouteTable = ReturnType<typeof createRouteTable>

/** Records every route that is added afterwards, to distinguish a wrong method from a wrong path. */
export function createRouteTable(app: FastifyInstance) {
  const paths = new Map<string, KnownPath>()
  app.addHook('onRoute', ({ url, method, config }) => {
    if (url === '*') return
    // The router ignores a slash at the end.
    const pathname = url.replace(/\/$/, '')
    const sourceOf = (part: string) => (/^[:*]/.test(part) ? '[^/]+' : `\\${part}`)
    const pattern = new RegExp(`^${pathname.replace(/(?<=\/)[:*][^/]*|\W/g, sourceOf)}/?$`)
    const path = paths.get(pathname) ?? { pattern, methods: new Set(), config: {} }
    for (const name of [method].flat()) path.methods.add(name)
    path.config = { ...path.config, ...config }
    paths.set(pathname, path)
  })
  return {
    /** The known path that matches the path of a request, whatever its method. */
    find: (pathname: string) => [...paths.values()].find(({ pattern }) => pattern.test(pathname)),
  }
}

/** The path of a request's target, without its query and decoded, as the router reads it. */
export function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    return decodeURI(path)
  } catch (error) {
    if (error instanceof URIError) return path
    throw error
  }
}

/** Whether a request is allowed, and when the next one will be. */
export interface RateLimitResult {
  readonly allowed: boolean
  /** How many more requests are allowed now. */
  readonly remaining: number
  /** Whole seconds, at least 1, after which one more request is certainly allowed. */
  readonly resetSeconds: number
}

/** At most `limit` requests of a client in any period of `windowSeconds`. */
export interface LimitRule {
  /** Its name in the headers. */
  readonly name: string
  readonly limit: number
  readonly windowSeconds: number
}

/**
 * Counts requests per client. The results of a counter that is shared by several processes are promises, which
 * reject soon if the counter does not answer.
 */
export interface RateLimiter extends LimitRule {
  take(key: string): RateLimitResult | Promise<RateLimitResult>
  /** Whether one more request would be allowed now, without counting it. */
  peek(key: string): RateLimitResult | Promise<RateLimitResult>
}

/** The rate limits of the store. */
export interface Limits {
  readonly discovery: RateLimiter
  readonly reading: RateLimiter
  readonly purchase: RateLimiter
  /** Payments and sign-ins that were not accepted, and unknown ICCIDs. */
  readonly refused: RateLimiter
  /** Checkouts that a visitor has started, each with an invoice of the payment processor. */
  readonly checkout: RateLimiter
  /** Mails that a visitor has requested. */
  readonly mail: RateLimiter
  /** The same mail to one address, for all visitors together. */
  readonly mailbox: RateLimiter
  /** All mails to one address that one kind of page sends, for all visitors together. */
  readonly mailing: RateLimiter
}
export type LimitName = keyof Limits

/** Makes the counter of each limit, locally or shared. */
export type RateLimiterFactory = (rule: LimitRule) => RateLimiter

export interface WindowOptions extends LimitRule {
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** The maximum number of clients; the one not seen for longest is forgotten first. */
  readonly maxKeys?: number
}

const perMinute = (name: LimitName, limit: number): LimitRule => ({
  name,
  limit,
  windowSeconds: 60,
})

const perHour = (name: LimitName, limit: number): LimitRule => ({
  name,
  limit,
  windowSeconds: 3_600,
})

export const limitRules: Readonly<Record<LimitName, LimitRule>> = {
  discovery: perMinute('discovery', 60),
  reading: perMinute('reading', 300),
  purchase: perMinute('purchase', 60),
  refused: perMinute('refused', 20),
  checkout: perHour('checkout', 30),
  mail: perHour('mail', 10),
  mailbox: { name: 'mailbox', limit: 1, windowSeconds: 900 },
  mailing: perHour('mailing', 6),
}

export function createLimits(counting: RateLimiterFactory): Limits {
  return {
    discovery: counting(limitRules.discovery),
    reading: counting(limitRules.reading),
    purchase: counting(limitRules.purchase),
    refused: counting(limitRules.refused),
    checkout: counting(limitRules.checkout),
    mail: counting(limitRules.mail),
    mailbox: counting(limitRules.mailbox),
    mailing: counting(limitRules.mailing),
  }
}

/** Counts in the memory of this process. */
export function countingHere(monotonicMs: () => number): RateLimiterFactory {
  return (rule) => slidingWindow({ ...rule, monotonicMs })
}

/**
 * Allows at most `limit` requests of a client in *any* window, not only in windows aligned to the clock. Refused
 * requests are not counted, so a client that waits as told is always admitted.
 */
export function slidingWindow(options: WindowOptions): RateLimiter {
  const { name, limit, windowSeconds, monotonicMs, maxKeys = 100_000 } = options
  const windowMs = windowSeconds * 1000
  const clients = new Map<string, Counted>()

  const taken = (times: readonly number[], allowed: boolean, now: number): RateLimitResult => {
    // In this order, because the clock has fractions: adding them first could round to more than a window.
    const waitMs = windowMs - (now - (times[0] ?? now))
    const resetSeconds = Math.max(1, Math.ceil(waitMs / 1000))
    return { allowed, remaining: limit - times.length, resetSeconds }
  }

  return {
    name,
    limit,
    windowSeconds,
    take(key) {
      const now = monotonicMs()
      const known = clients.get(key)
      const client = known ?? { times: [], seenAt: now, placedAt: now }
      client.times = stillCounted(client.times, now - windowMs)
      client.seenAt = now
      const allowed = client.times.length < limit
      if (allowed) client.times.push(now)
      if (known === undefined) clients.set(key, client)
      forget(clients, maxKeys, now - windowMs)
      return taken(client.times, allowed, now)
    },
    peek(key) {
      const now = monotonicMs()
      const times = stillCounted(clients.get(key)?.times ?? [], now - windowMs)
      return taken(times, times.length < limit, now)
    },
  }
}

/** The headers of every answer of a limited path (draft-ietf-httpapi-ratelimit-headers). */
export function rateLimitHeaders(
  limiter: RateLimiter,
  taken: RateLimitResult,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${limiter.name}";q=${limiter.limit};w=${limiter.windowSeconds}`,
    ratelimit: `"${limiter.name}";r=${taken.remaining};t=${taken.resetSeconds}`,
  }
}

function stillCounted(times: number[], endedAt: number): number[] {
  const first = times.findIndex((time) => time > endedAt)
  return first < 0 ? [] : first === 0 ? times : times.slice(first)
}

/** One client, with the times of its counted requests. */
interface Counted {
  times: number[]
  /** The time of its last request, counted or not. */
  seenAt: number
  /** The time by which it has its place in the map. */
  placedAt: number
}

/**
 * Forgets clients whose requests no longer count, and, while there are too many, the one not seen for longest.
 *
 * The map is ordered by `placedAt`. A client that was seen since is moved to the end only when it would be
 * forgotten, at most once a window: moving it at each request would make the engine rebuild the map every few
 * requests.
 */
function forget(clients: Map<string, Counted>, maxKeys: number, endedAt: number): void {
  for (const [key, client] of clients) {
    const { seenAt, placedAt } = client
    const isOver = clients.size > maxKeys
    if (!isOver && placedAt > endedAt) return
    clients.delete(key)
    if (seenAt > (isOver ? placedAt : endedAt)) {
      client.placedAt = seenAt
      clients.set(key, client)
    }
  }
}

/** What one request may do, and when the next may come. */
export interface RateLimitResult {
  readonly allowed: boolean
  /** How many more requests would be taken right now. */
  readonly remaining: number
  /** Whole seconds, at least 1, after which one more request is taken for sure. */
  readonly resetSeconds: number
}

/** At most `limit` requests of a client in any window. */
export interface LimitRule {
  /** As the headers name it. */
  readonly name: string
  readonly limit: number
  readonly windowSeconds: number
}

/**
 * Counts requests per client. Several processes of one store count elsewhere, so it may take time.
 * A promise is rejected, soon, when the count cannot be made.
 */
export interface RateLimiter extends LimitRule {
  take(key: string): RateLimitResult | Promise<RateLimitResult>
  /** Whether one more would be taken now, without counting it. */
  peek(key: string): RateLimitResult | Promise<RateLimitResult>
}

/** The limits of the store, by what they guard. */
export interface Limits {
  readonly discovery: RateLimiter
  readonly reading: RateLimiter
  readonly purchase: RateLimiter
  /** Payments and sign-ins that were not accepted, and ICCIDs that nobody knew. */
  readonly refused: RateLimiter
  /** Checkouts that a visitor has begun, each with an invoice of the payment processor. */
  readonly checkout: RateLimiter
  /** Mails that a visitor has asked for. */
  readonly mail: RateLimiter
  /** The same mail to one address, from all visitors together. */
  readonly mailbox: RateLimiter
  /** Every mail to one address for one reason, from all visitors together. */
  readonly mailing: RateLimiter
}
export type LimitName = keyof Limits

/** Where requests are counted: makes the counter of each limit. */
export type RateLimiterFactory = (rule: LimitRule) => RateLimiter

export interface WindowOptions extends LimitRule {
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** Clients remembered at most; the one not seen for longest is forgotten first. */
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

/** Counts in this process, for itself alone. */
export function countingHere(monotonicMs: () => number): RateLimiterFactory {
  return (rule) => slidingWindow({ ...rule, monotonicMs })
}

/**
 * Takes at most `limit` requests of a client in *any* window, not in windows that start by the
 * clock. A refused request is not counted, so waiting as told always helps.
 */
export function slidingWindow(options: WindowOptions): RateLimiter {
  const { name, limit, windowSeconds, monotonicMs, maxKeys = 100_000 } = options
  const windowMs = windowSeconds * 1000
  const clients = new Map<string, Counted>()

  const taken = (times: readonly number[], allowed: boolean, now: number): RateLimitResult => {
    // In this order, since the clock has fractions: a sum with them may round to more than a window.
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

/** The headers that every answer of a limited path carries (draft-ietf-httpapi-ratelimit-headers). */
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

/** A client of a limit, with the times of its requests that count. */
interface Counted {
  times: number[]
  /** When its last request came. */
  seenAt: number
  /** As of when it stands where it stands in the map. */
  placedAt: number
}

/**
 * Forgets clients whose requests no longer count, and the one not seen for longest while there are too many.
 *
 * Those in front were placed first. One that was seen since is placed anew, at most once a window and when it
 * would be forgotten: a map in which each request moves its client is made anew every few requests.
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

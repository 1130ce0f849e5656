import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export interface RateLimitResult {
  readonly allowed: boolean
  readonly remaining: number
  /** Whole seconds, at least 1, after which the whole limit is allowed again. */
  readonly resetSeconds: number
}

/** At most `limit` requests of a client in a window, which begins with its first request. */
export interface LimitRule {
  readonly name: string
  readonly limit: number
  readonly windowSeconds: number
}

export interface RateLimiter extends LimitRule {
  take(client: string): Promise<RateLimitResult>
  /** Whether one more request would be allowed now, without counting it. */
  peek(client: string): Promise<RateLimitResult>
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

export function limiterOf(rule: LimitRule, counter: RateLimiterAbstract): RateLimiter {
  return {
    ...rule,
    async take(client) {
      try {
        return resultOf(true, await counter.consume(client))
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return resultOf(false, refused)
        throw refused
      }
    },
    async peek(client) {
      const counted = await counter.get(client)
      if (counted === null || counted.msBeforeNext <= 0) {
        return { allowed: true, remaining: rule.limit, resetSeconds: rule.windowSeconds }
      }
      return resultOf(counted.consumedPoints < rule.limit, counted)
    },
  }
}

function resultOf(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes) {
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000))
  return { allowed, remaining: remainingPoints, resetSeconds }
}

/** The headers of every answer of a limited path (draft-ietf-httpapi-ratelimit-headers). */
export function rateLimitHeaders(
  { name, limit, windowSeconds }: LimitRule,
  { remaining, resetSeconds }: RateLimitResult,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  }
}

/**
 * The key under which the limits count a client: the whole of an IPv4 address, the /64 of an IPv6 address,
 * because one subscriber has a whole /64. An IPv4 address mapped into IPv6 counts as the IPv4 address. A text
 * that is no address comes from a proxy that forwards what its clients write. All such texts count as one
 * client, so that nobody can pose as a new client each time and fill the memory with keys.
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

import { defineScript } from '@redis/client'

/**
 * The sliding log of one client, as one atomic script: a list of the times of the counted requests, oldest
 * first, in microseconds of Redis' own clock.
 *
 * That clock may be set back, or be another one after a failover. New requests then count at the newest time
 * in the log until the clock has caught up. A log that is more than a window ahead is deleted. Logs expire two
 * windows after their last request.
 *
 * A limited number of clients have a log of their own. Once all are taken, a further client counts in a
 * shared log, until one of the others has expired.
 *
 * KEYS: the client's own log, its shared log, and the sorted set of when each client's log expires. ARGV: the
 * limit, the window in milliseconds, 1 to take or 0 to peek, the client, and the most clients with a log.
 * Returns whether the request is allowed (1 or 0), how many are counted now, and the microseconds until the
 * oldest of them leaves the window.
 */
const lua = `
local own, shared, ends = KEYS[1], KEYS[2], KEYS[3]
local limit, window, client = tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000, ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local nowMs = math.floor(now / 1000)

redis.call('ZREMRANGEBYSCORE', ends, '-inf', nowMs)
local log = own
if not redis.call('ZSCORE', ends, client) and redis.call('ZCARD', ends) >= tonumber(ARGV[5]) then
  log = shared
end

local newest = tonumber(redis.call('LINDEX', log, -1) or 0)
if newest > now + window then
  redis.call('DEL', log)
elseif newest > now then
  now = newest
end

local oldest = tonumber(redis.call('LINDEX', log, 0) or now)
while oldest <= now - window do
  redis.call('LPOP', log)
  oldest = tonumber(redis.call('LINDEX', log, 0) or now)
end

local count = redis.call('LLEN', log)
local allowed = count < limit
if allowed and ARGV[3] == '1' then
  redis.call('RPUSH', log, string.format('%.0f', now))
  redis.call('PEXPIRE', log, 2 * ARGV[2])
  if log == own then
    redis.call('ZADD', ends, nowMs + 2 * ARGV[2], client)
    redis.call('PEXPIRE', ends, 2 * ARGV[2])
  end
  count = count + 1
end
return { allowed and 1 or 0, count, oldest + window - now }
`

/** The Redis keys of one client at one limit, and the client itself. */
export interface LoggedClient {
  readonly own: string
  readonly shared: string
  readonly ends: string
  readonly client: string
}

export interface LogRule {
  readonly limit: number
  readonly windowMs: number
  readonly takes: boolean
  /** The most clients that have a log of their own at a time. */
  readonly maxClients: number
}

export const slidingLog = defineScript({
  SCRIPT: lua,
  NUMBER_OF_KEYS: 3,
  parseCommand(parser, { own, shared, ends, client }: LoggedClient, rule: LogRule) {
    const { limit, windowMs, takes, maxClients } = rule
    parser.pushKeys([own, shared, ends])
    parser.push(String(limit), String(windowMs), takes ? '1' : '0', client, String(maxClients))
  },
  transformReply: (reply: unknown) => reply as [allowed: number, count: number, leftMicros: number],
})

import { defineScript } from '@redis/client'

/**
 * The sliding log of one client, in one step that nothing can come between: a list of the moments at
 * which requests were taken, oldest first, in microseconds of Redis' own clock.
 *
 * That clock may be set back, or be another one after a failover. It then stands still until it has
 * caught up; a log that is more than a window ahead of it is begun anew. A log ends by itself a
 * window after it could matter.
 *
 * KEYS: the log. ARGV: the limit, the window in milliseconds, and 1 to take or 0 to look.
 * Returns whether it is allowed (1 or 0), how many are counted now, and the microseconds until the
 * oldest of them leaves the window.
 */
const lua = `
local log, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

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
  count = count + 1
end
return { allowed and 1 or 0, count, oldest + window - now }
`

export const slidingLog = defineScript({
  SCRIPT: lua,
  NUMBER_OF_KEYS: 1,
  parseCommand(
    parser,
    log: string,
    { limit, windowMs, takes }: { limit: number; windowMs: number; takes: boolean },
  ) {
    parser.pushKey(log)
    parser.push(String(limit), String(windowMs), takes ? '1' : '0')
  },
  transformReply: (reply: unknown) => reply as [allowed: number, count: number, leftMicros: number],
})

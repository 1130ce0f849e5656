import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { countingHere, createLimits, type Limits, type RateLimiter } from './rate-limit.ts'

/** The store's limits as with a shared counter: every answer takes a while. */
function countedElsewhere(change: Partial<RateLimiter> = {}): Limits {
  const limits = createLimits(countingHere(() => 0))
  const elsewhere = (limiter: RateLimiter): RateLimiter => ({
    ...limiter,
    take: async (key) => limiter.take(key),
    peek: async (key) => limiter.peek(key),
    ...change,
  })
  return {
    discovery: elsewhere(limits.discovery),
    reading: elsewhere(limits.reading),
    purchase: elsewhere(limits.purchase),
    refused: elsewhere(limits.refused),
    mail: elsewhere(limits.mail),
    mailbox: elsewhere(limits.mailbox),
    mailing: elsewhere(limits.mailing),
    checkout: elsewhere(limits.checkout),
  }
}

describe('limits that are counted elsewhere', () => {
  test('let in, refuse and tell a wrong method like those that are counted here', async () => {
    const { app } = testApp({ limits: countedElsewhere() })
    for (let at = 0; at < 59; at += 1) {
      const answer = await app.inject('/ai/vouchers')
      expect([answer.statusCode, answer.headers['ratelimit']]).toEqual([
        200,
        `"discovery";r=${59 - at};t=60`,
      ])
    }
    const wrong = await app.inject({ method: 'DELETE', url: '/ai/vouchers' })
    expect([wrong.statusCode, wrong.headers['ratelimit']]).toEqual([405, '"discovery";r=0;t=60'])
    const refused = await app.inject('/ai/vouchers')
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60'])
    expect(refused.headers['x-request-id']).toBeDefined()
  })

  test('fail a request that cannot be counted, without its answer', async () => {
    const take = () => Promise.reject(new Error('The counter is away.'))
    const { app, logged } = testApp({ limits: countedElsewhere({ take }) })
    const answer = await app.inject('/ai/vouchers')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('items')
    expect(logged.join()).toContain('The counter is away.')
  })
})

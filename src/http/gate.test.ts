import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { createLimits } from './rate-limit.ts'

test('a method that a path does not have counts against its limit', async () => {
  const { app } = testApp()
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

test('a request that cannot be counted fails without its answer', async () => {
  const take = () => Promise.reject(new Error('The counter is away.'))
  const limits = createLimits()
  const { app, logged } = testApp({
    limits: { ...limits, discovery: { ...limits.discovery, take } },
  })
  const answer = await app.inject('/ai/vouchers')
  expect(answer.statusCode).toBe(500)
  expect(answer.body).not.toContain('items')
  expect(logged.join()).toContain('The counter is away.')
})

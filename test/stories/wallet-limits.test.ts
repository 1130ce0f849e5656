import { x402Client } from '@x402/core/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { describe, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { bodyFor, buy, callerFor } from './requests.ts'
import { limitsAt, limitsPath } from './signing-in.ts'
import { useStore } from './store.ts'

const store = useStore()
const call = callerFor(store)
const limits = limitsAt(call)

const half = { usdc: '0.50', atomic: '500000' }

describe('a purchase', () => {
  test('within the limits counts, and the next one that goes beyond is refused', async () => {
    const buyer = await limits.limitedTo({ perOrderUsdc: '0.50', perDayUsdc: '0.75' })
    expect((await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status).toBe(200)
    const balance = await buyer.balance()
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'limit_exceeded',
        charged: 'no',
        retryable: false,
        limit: 'per_day',
        asked: half,
        spent: half,
        remaining: { usdc: '0.25', atomic: '250000' },
        until: expect.stringMatching(/^\d{4}-/),
      },
    })
    expect(await buyer.balance()).toBe(balance)
  })
})

describe('the sign-in', () => {
  test('of the stock client sets limits, which nobody else sees or changes', async () => {
    const wallet = await newBuyer(0n)
    const client = new x402Client()
    client.registerExtension(createSIWxClientExtension({ signers: [wallet.account] }))
    const body = JSON.stringify({ perOrderUsdc: '2.5', countries: ['us'] })
    const headers = { 'content-type': 'application/json' }
    const put = { method: 'PUT', headers, body }
    const set = await wrapFetchWithPayment(fetch, client)(`${store.url}${limitsPath}`, put)
    expect(set.status).toBe(200)
    const other = await newBuyer(0n)
    expect((await limits.as(other, 'DELETE')).body.inForce).toEqual({})
    expect((await limits.as(wallet, 'GET')).body).toMatchObject({
      wallet: wallet.address,
      inForce: { perOrder: { usdc: '2.50', atomic: '2500000' }, countries: ['US'] },
      coming: null,
      coolingHours: 24,
      lastDay: { spent: { usdc: '0.00', atomic: '0' }, remaining: null },
    })
  })
})

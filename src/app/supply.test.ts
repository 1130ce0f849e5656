import { expect, test } from 'vitest'
import { type Reply, startScripted } from '../suppliers/scripted-server.fixture.ts'
import { connectSupply } from './supply.ts'

test('what the supplier holds is as it said last, and nothing before it has said it', async () => {
  let reply: Reply = { status: 500, json: {} }
  const server = await startScripted(() => reply)
  const suppliers = { zendit: { url: server.url, key: 'key' } }
  const { wallets } = connectSupply({ suppliers }, () => new Date())
  const wallet = wallets.get('zendit')
  try {
    expect(await wallet?.read()).toBeUndefined()
    reply = { json: { availableBalance: 123_456, currency: 'USD', currencyDivisor: 100 } }
    const seen = { available: 1_234.56, currency: 'USD' }
    expect(await wallet?.read()).toEqual(seen)
    reply = { json: { availableBalance: 'much', currency: 'USD', currencyDivisor: 100 } }
    expect(await wallet?.read()).toEqual(seen)
  } finally {
    await server.close()
  }
})

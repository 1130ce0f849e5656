import { expect, test } from 'vitest'
import { type Reply, startScripted } from './adapters/suppliers/zendit/scripted-server.fixture.ts'
import { readConfig } from './config.ts'
import { connectSupplier } from './supply.ts'

test('what the supplier holds is as it said last, and nothing before it has said it', async () => {
  let reply: Reply = { status: 500, json: {} }
  const server = await startScripted(() => reply)
  const { site } = readConfig({})
  const { wallet } = connectSupplier({ site, supplierUrl: server.url, supplierKey: 'key' })
  try {
    expect(await wallet.look()).toBeUndefined()
    reply = { json: { availableBalance: 123_456, currency: 'USD', currencyDivisor: 100 } }
    const seen = { available: 1_234.56, currency: 'USD' }
    expect(await wallet.look()).toEqual(seen)
    reply = { json: { availableBalance: 'much', currency: 'USD', currencyDivisor: 100 } }
    expect(await wallet.look()).toEqual(seen)
  } finally {
    await server.close()
  }
})

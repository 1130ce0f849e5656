import { expect, test } from 'vitest'
import { runStoreToItsEnd } from '../child-store.ts'

const keys = { GAS_KEY: `0x${'ab'.repeat(32)}`, REFUND_KEY: `0x${'cd'.repeat(32)}` }
const complete = {
  MODE: 'live',
  NETWORK: 'base',
  RPC_URL: 'http://127.0.0.1:9',
  PAY_TO: `0x${'1'.repeat(40)}`,
  ...keys,
  DATABASE_URL: 'postgres://nobody:wrong@127.0.0.1:9/none',
  SUPPLIER_URL: 'http://127.0.0.1:9/v1',
  SUPPLIER_KEY: 'key-of-the-supplier',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  PUBLIC_URL: 'https://store.example',
}

test('live mode without its variables lists every one that is missing, in one message', async () => {
  const { code, output } = await runStoreToItsEnd({ MODE: 'live' })
  expect(code).toBe(1)
  for (const name of [
    'NETWORK',
    'RPC_URL',
    'PAY_TO',
    'GAS_KEY',
    'REFUND_KEY',
    'DATABASE_URL',
    'SUPPLIER_URL',
    'SUPPLIER_KEY',
    'SECRETS_KEY',
    'PUBLIC_URL',
  ]) {
    expect(output).toContain(`- ${name} is missing`)
  }
  expect(output).toContain('.env.example')
})

test('bad values are all named and never shown', async () => {
  const { output } = await runStoreToItsEnd({
    ...complete,
    NETWORK: 'ethereum',
    PAY_TO: 'vitalik.eth',
    GAS_KEY: 'my-secret-key',
    TRUSTED_PROXIES: 'true',
  })
  for (const name of ['NETWORK', 'PAY_TO', 'GAS_KEY', 'TRUSTED_PROXIES'])
    expect(output).toContain(`- ${name} `)
  expect(output).not.toContain('my-secret-key')
})

test('sandbox and live settings cannot be mixed', async () => {
  const live = await runStoreToItsEnd({ ...complete, DATA_DIR: './data', SANDBOX_OFFERS: '600' })
  expect(live.output).toContain('DATA_DIR is only for the sandbox')
  expect(live.output).toContain('SANDBOX_OFFERS is only for the sandbox')
  const sandbox = await runStoreToItsEnd({ GAS_KEY: keys.GAS_KEY })
  expect(sandbox.output).toContain('GAS_KEY is only for MODE=live')
  expect(sandbox.output).not.toContain(keys.GAS_KEY)
})

test('a database that cannot be reached stops the start with its name', async () => {
  const { code, output } = await runStoreToItsEnd(complete)
  expect(code).toBe(1)
  expect(output).toMatch(/- DATABASE_URL: /)
  expect(output).not.toContain('wrong')
})

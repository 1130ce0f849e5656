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

test('a database that cannot be reached stops the start with its name', async () => {
  const { code, output } = await runStoreToItsEnd(complete)
  expect(code).toBe(1)
  expect(output).toMatch(/- DATABASE_URL: /)
  expect(output).not.toContain('wrong')
})

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { openStore, type Store } from './store.ts'

let store: Store

beforeAll(async () => {
  store = await openStore({ offers: 50 })
})
afterAll(() => store.close())

test('the program in the README buys a voucher and prints its code', async () => {
  // The stores of stories have no faucet, so the program gets a wallet with money instead of a new one.
  const key = generatePrivateKey()
  await newBuyer(undefined, undefined, privateKeyToAccount(key))
  const [, inReadme = ''] = /```js\n(.*?)```/s.exec(readFileSync('README.md', 'utf8')) ?? []
  const program = inReadme.replace('generatePrivateKey()', `'${key}'`)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { env: { ...process.env, STORE_URL: store.url }, timeout: 60_000 },
  )
  expect(stdout).toMatch(/^200 /)
  expect(stdout).toMatch(/"code": "SBX-/)
})

import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leftOut, works } from '../harness/left-out.ts'
import { newBuyer } from './buyer.ts'
import { openStore, type Store } from './store.ts'

interface Example {
  readonly command: string
  readonly script: string
  /** A call that fails where something is missing that the script needs. */
  readonly needs: readonly [command: string, ...args: string[]]
  readonly mend: string
}

/** Debian's Python, because Debian's packages are only there. */
const python = '/usr/bin/python3'

const examples: Readonly<Record<string, Example>> = {
  TypeScript: {
    command: process.execPath,
    script: 'examples/buy.ts',
    needs: [process.execPath, '--version'],
    mend: 'npm ci',
  },
  Python: {
    command: python,
    script: 'examples/buy.py',
    needs: [python, '-c', 'import requests, ecdsa, Cryptodome.Hash.keccak'],
    mend: 'apt-get install python3-requests python3-ecdsa python3-pycryptodome',
  },
  curl: {
    command: 'bash',
    script: 'examples/buy.sh',
    needs: ['curl', '--version'],
    mend: 'apt-get install curl',
  },
}

let store: Store

for (const [name, example] of Object.entries(examples)) {
  const why = `no example in ${name}: ${example.mend}`
  const isMissing = leftOut(works(...example.needs) ? undefined : why) !== undefined
  describe.skipIf(isMissing)(`the example in ${name}`, () => {
    // One each, because all come from this address, and a store limits what an address may ask.
    beforeAll(async () => {
      store = await openStore({ offers: 50 })
    })
    afterAll(() => store.close())

    test('buys a voucher and prints its code', async () => {
      const { key, buyer } = await newWallet()
      const before = await buyer.balance()
      const { code, stdout } = await run(example, { PRIVATE_KEY: key })
      expect(stdout).toMatch(
        /TEST-VOUCHER-OK: 0\.50 USDC\nPURCHASE_KEY=\S+\nord_\w+ is FULFILLED\n/,
      )
      expect(stdout).toMatch(/"code": "SBX-/)
      expect(code).toBe(0)
      expect(await buyer.balance()).toBe(before - 500_000n)
    })

    test('pays once when the answer to its payment is lost', async () => {
      const { key, buyer } = await newWallet()
      const before = await buyer.balance()
      const lossy = await openLossyProxy(store.url)
      const env = { PRIVATE_KEY: key, STORE_URL: lossy.url }
      const { code, stdout } = await run(example, env).finally(lossy.close)
      expect(lossy.lost()).toBe(1)
      expect(stdout).toMatch(/"code": "SBX-/)
      expect(code).toBe(0)
      expect(await buyer.balance()).toBe(before - 500_000n)
    })

    test('tells of a purchase that failed, and the money comes back', async () => {
      const { key, buyer } = await newWallet()
      const before = await buyer.balance()
      const { code, stdout, stderr } = await run(example, { PRIVATE_KEY: key }, 'TEST-VOUCHER-FAIL')
      expect(stdout).toContain('is FULFILLMENT_FAILED')
      expect(stderr).toMatch(/could not complete the purchase .* Refund: REFUND\w+\./)
      expect(code).toBe(1)
      await expect.poll(buyer.balance).toBe(before)
    })
  })
}

async function newWallet() {
  const key = generatePrivateKey()
  return { key, buyer: await newBuyer(undefined, undefined, privateKeyToAccount(key)) }
}

interface Ran {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs an example as its header says, with this Node first in the path. */
function run(
  { command, script }: Example,
  env: Readonly<Record<string, string>> & { readonly PRIVATE_KEY: string },
  offerId = 'TEST-VOUCHER-OK',
): Promise<Ran> {
  const path = [dirname(process.execPath), process.env['PATH']].join(':')
  const options = {
    env: { HOME: process.env['HOME'], PATH: path, STORE_URL: store.url, ...env },
    timeout: 60_000,
  }
  return new Promise((resolve) => {
    execFile(command, [script, 'sandbox test', offerId], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

/** Lets everything through, and loses the answer to the first payment. */
async function openLossyProxy(target: string) {
  let lost = 0
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = request.headers
    const answer = await fetch(new URL(request.url ?? '', target), {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    })
    const text = await answer.text()
    if ('payment-signature' in headers && lost === 0) {
      lost += 1
      response.destroy()
      return
    }
    const { 'content-encoding': ____, ...kept } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, { ...kept, 'content-length': Buffer.byteLength(text) })
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

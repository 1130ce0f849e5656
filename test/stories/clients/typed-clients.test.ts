import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { newBuyer } from '../buyer.ts'
import { noHosts } from '../hosts.ts'
import { openStore, type Store } from '../store.ts'

// Clients that programs generate from the served document must compile strictly, and buy.

const run = promisify(execFile)
const hosts = resolve('.ci/hosts')
const bin = (path: string) => join(hosts, 'node_modules', path)

let store: Store
let place: string

beforeAll(async () => {
  if (noHosts) return
  store = await openStore({ offers: 300 })
  // Beside the installed packages, which the clients import.
  place = await mkdtemp(join(hosts, '.typed-'))
  await cp(join(hosts, 'typed'), place, { recursive: true })
  const document = await fetch(`${store.url}/openapi.json`)
  await writeFile(join(place, 'openapi.json'), await document.text())
})
afterAll(async () => {
  if (noHosts) return
  await rm(place, { recursive: true, force: true })
  await store.close()
})

/** A compiler says on its standard output what is wrong. */
const node = (...args: readonly string[]) =>
  run(process.execPath, [...args], { cwd: place }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout, { cause: error })
  })

const generators = {
  'openapi-typescript': () =>
    node(bin('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'store.d.ts'),
  'hey-api': () =>
    node(bin('@hey-api/openapi-ts/bin/run.js'), '-i', 'openapi.json', '-o', 'hey', '--silent'),
  async orval() {
    const output = { target: 'orval-client.ts', client: 'fetch', baseUrl: store.url }
    const config = { store: { input: 'openapi.json', output } }
    await writeFile(join(place, 'orval.config.mjs'), `export default ${JSON.stringify(config)}`)
    return node(bin('orval/dist/bin/orval.mjs'), '--config', 'orval.config.mjs')
  },
}

const strictly =
  '--strict --skipLibCheck --target es2022 --module node16 --lib es2023,dom,dom.iterable --types node --outDir out'

test.skipIf(noHosts).each(Object.entries(generators))(
  'a client that %s generates compiles and buys',
  async (name, generate) => {
    await generate()
    await node(bin('typescript/bin/tsc'), ...strictly.split(' '), `${name}.ts`)
    const key = generatePrivateKey()
    const buyer = await newBuyer(1_000_000n, inject('parts'), privateKeyToAccount(key))
    const { stdout } = await run(
      process.execPath,
      ['--import', join(hosts, 'typed', 'paying.mjs'), `out/${name}.js`, store.url, 'TEST-ESIM-OK'],
      { cwd: place, env: { PRIVATE_KEY: key } },
    )
    expect(JSON.parse(stdout)).toEqual({
      total: expect.any(Number),
      orderId: expect.stringMatching(/^ord_/),
      states: ['FULFILLED'],
    })
    expect(await buyer.balance()).toBe(500_000n)
  },
)

import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { freePort } from '../../sandbox/port.ts'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { fundedGasKey } from '../harness/gas.ts'
import { query } from '../harness/query.ts'
import { newBuyer } from './buyer.ts'
import { mintUsdc } from './chain.ts'
import { buyDelivered } from './requests.ts'
import { newDatabase } from './store.ts'

// What `npm run release` makes, as an operator unpacks it on a machine that has Node alone.

/** The tarball of the release before this one. Without it, a schema from the future stands in for what this one adds. */
const releaseBefore = process.env['RELEASE_BEFORE']

const dir = mkdtempSync(join(tmpdir(), 'kiosk402-released-'))
const bin = join(dir, 'bin')
let release: string
let supplier: Awaited<ReturnType<typeof startSupplier>>
let live: Record<string, string>

beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/release.ts', join(dir, 'dist')], { stdio: 'ignore' })
  release = unpacked(join(dir, `dist/kiosk402-${packageJson.version}.tgz`))
  mkdirSync(bin)
  for (const tool of ['sh', 'dirname', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(bin, tool))
  symlinkSync(process.execPath, join(bin, 'node'))
  live = await settings()
})
afterAll(async () => {
  await supplier?.stop()
  rmSync(dir, { recursive: true })
})

function unpacked(file: string): string {
  const folder = mkdtempSync(join(dir, 'unpacked-'))
  execFileSync('tar', ['--extract', '--file', file, '--directory', folder])
  return join(folder, globSync('kiosk402-*', { cwd: folder })[0] ?? '')
}

async function settings(): Promise<Record<string, string>> {
  const apiKey = 'sandbox_story_key'
  supplier = await startSupplier({ apiKey, offers: 100, stepMs: 15, lateSeconds: 660 })
  const parts = inject('parts')
  const port = await freePort()
  const refundKey = generatePrivateKey()
  await mintUsdc(parts, privateKeyToAddress(refundKey), 1_000_000_000n)
  return {
    PATH: bin,
    MODE: 'live',
    NETWORK: 'base-sepolia',
    REHEARSAL: '1',
    PORT: String(port),
    RPC_URL: parts.rpcUrl,
    PAY_TO: privateKeyToAddress(generatePrivateKey()),
    GAS_KEY: await fundedGasKey(parts.rpcUrl),
    REFUND_KEY: refundKey,
    DATABASE_URL: await newDatabase(parts.databaseUrl),
    SUPPLIER_URL: `${supplier.url}/v1`,
    SUPPLIER_KEY: apiKey,
    RATES_URL: `${supplier.url}/rates/v1/latest`,
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  }
}

/** Starts the store of a folder until it is ready or has ended, looks at it, and stops it. */
async function startedIn(folder: string, look = async () => {}) {
  const child = spawn(join(folder, 'scripts/run'), ['src/main.ts'], { cwd: folder, env: live })
  let output = ''
  const isReady = new Promise<boolean>((settle) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes(' is ready (')) settle(true)
      })
    }
    child.on('close', () => settle(false))
  })
  const ended = once(child, 'close')
  try {
    if (await isReady) await look()
  } finally {
    child.kill('SIGTERM')
  }
  const [code] = await ended
  return { isReady: await isReady, code, output }
}

/** The command of a release. */
async function runIn(folder: string, ...args: string[]): Promise<string> {
  const command = join(folder, 'scripts/kiosk402')
  const { stdout } = await promisify(execFile)(command, args, { env: live })
  return stdout
}

test('is under 150 MB, and lists each package that it runs', () => {
  const [kilobytes = ''] = execFileSync('du', ['-sk', release], { encoding: 'utf8' }).split('\t')
  expect(Number(kilobytes)).toBeLessThan(150_000)
  const parts = JSON.parse(readFileSync(join(release, 'sbom.cdx.json'), 'utf8'))
  expect(parts).toMatchObject({ bomFormat: 'CycloneDX' })
  const listed = parts.components.map(({ name }: { name: string }) => name)
  expect(listed).toEqual(expect.arrayContaining(Object.keys(packageJson.dependencies)))
  expect(listed).not.toContain('vitest')
})

test('starts on a machine without npm, and each node says its version', async () => {
  let examined = ''
  const { isReady, output } = await startedIn(release, async () => {
    examined = await runIn(release, 'doctor', `http://127.0.0.1:${live['PORT']}`, '--json')
  })
  expect(isReady, output).toBe(true)
  const { operations, findings } = JSON.parse(examined)
  expect(operations).toHaveLength(3)
  expect(findings).toContainEqual(expect.objectContaining({ code: 'listing_unchecked' }))
  const nodes = await query(live['DATABASE_URL'] ?? '', 'select version from nodes')
  expect(nodes).toEqual([{ version: packageJson.version }])
  expect((await runIn(release, '--version')).trim()).toBe(packageJson.version)
})

/** Everything that an operator may do, on an order of this store. */
async function useEveryAct(folder: string): Promise<void> {
  const kiosk402 = (...args: string[]) => runIn(folder, ...args)
  const url = live['PUBLIC_URL'] ?? ''
  const { order, answer } = await buyDelivered({ url }, await newBuyer(), 'topup')
  expect(order.orders).toHaveLength(1)
  const id = answer.body.orderId
  const [phone, reason] = ['+12025550123', '--reason']
  const goodwill = () => kiosk402('refund', 'goodwill', id, '0.50', reason, 'late')
  // Refused until the payment is final.
  await expect.poll(() => goodwill().catch(String)).toContain('gives 0.50 USDC')
  await expect.poll(() => kiosk402('order', 'show', id)).toMatch(/goodwill.*CONFIRMED/i)
  await kiosk402('order', 'resend', id, reason, 'lost the link')
  await kiosk402('sales', 'pause', 'kind:esim', reason, 'no codes')
  await kiosk402('price', 'set', 'everything', '--margin-bps', '150', reason, 'fees')
  await kiosk402('catalog', 'hide', 'country:CU', reason, 'not there')
  await kiosk402('denylist', 'add', phone, reason, 'Case 17')
  await kiosk402('person', 'erase', phone, reason, 'asked for it')
  await kiosk402('refund', 'stop', reason, 'An upgrade')
}

const newSchema = '002-of-the-next-release.sql'

/** Without a release before, this one is it, and the next one adds a table to its own. */
function twoReleases() {
  if (releaseBefore !== undefined)
    return { before: unpacked(resolve(releaseBefore)), next: release }
  const next = join(dir, 'next')
  cpSync(release, next, { recursive: true, verbatimSymlinks: true })
  const file = join(next, 'src/adapters/storage/schema', newSchema)
  writeFileSync(file, 'create table of_the_next_release (id text primary key)')
  return { before: release, next }
}

test('a release upgrades what the one before has written, which then runs on it or refuses in one sentence', async () => {
  const { before, next } = twoReleases()
  live = { ...live, DATABASE_URL: await newDatabase(inject('parts').databaseUrl) }
  const first = await startedIn(before)
  expect(first.isReady, first.output).toBe(true)
  const upgraded = await startedIn(next, () => useEveryAct(next))
  expect(upgraded.isReady, upgraded.output).toBe(true)
  const { isReady, code, output } = await startedIn(before)
  if (isReady) return
  expect(output).toMatch(/newer version .* Start that version, or restore a backup/)
  // systemd does not start it again: deploy/kiosk402@.service.
  expect(code).toBe(78)
})

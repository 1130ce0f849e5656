import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readDenied } from '../adapters/storage/denylist.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { claimIdentity } from '../adapters/storage/store.ts'
import { networks } from '../payments/networks.ts'
import { acts, main } from './main.ts'
import { findSettings, personOf } from './settings.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** What the command prints, and its exit code. */
async function kiosk402(...argv: readonly string[]) {
  vi.restoreAllMocks()
  const out = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const exit = await main(argv)
  const [stdout, stderr] = [out, error].map(({ mock }) => mock.calls.flat().join('\n'))
  return { exit, stdout: stdout ?? '', stderr: stderr ?? '' }
}

const names = Object.keys(acts)

/** The settings of a live store besides its database. */
const live = {
  ...{ MODE: 'live', NETWORK: 'base-sepolia', RPC_URL: 'http://127.0.0.1:9' },
  ...{ PAY_TO: `0x${'1'.repeat(40)}`, PUBLIC_URL: 'https://store.example' },
  ...{ GAS_KEY: `0x${'ab'.repeat(32)}`, REFUND_KEY: `0x${'cd'.repeat(32)}` },
  ...{ SUPPLIER_URL: 'http://127.0.0.1:9/v1', SUPPLIER_KEY: 'key-of-the-supplier' },
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
}

test('without an act it lists all of them, for people and for programs', async () => {
  const { exit, stdout } = await kiosk402()
  expect(exit).toBe(0)
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} +[a-z]`, 'm'))
  const listed = JSON.parse((await kiosk402('--json')).stdout)
  expect(listed.acts.map(({ name }: { name: string }) => name)).toEqual(names)
})

describe.each(names)('%s', (name) => {
  test('has help with an example, and a page', async () => {
    const { exit, stdout } = await kiosk402(name, '--help')
    expect(exit).toBe(0)
    expect(stdout).toContain(`Usage: kiosk402 ${name}`)
    expect(stdout).toMatch(new RegExp(`Examples?:\n  (.* )?kiosk402 ${name}`))
    const pages = readFileSync('docs/operators/command.md', 'utf8')
    expect(pages).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\| \\[.*\\.md`, 'm'))
    expect(stdout).toContain('--dry-run')
  })

  test('refuses an option that is not known, in JSON too, and touches no store', async () => {
    const { exit, stdout, stderr } = await kiosk402(name, '--json', '--frobnicate')
    expect(exit).toBe(2)
    expect(stderr).toContain('--frobnicate')
    expect(stderr).toContain(`kiosk402 ${name} --help shows how.`)
    expect(JSON.parse(stdout)).toEqual({ error: stderr })
  })
})

test.each([
  [['refunds'], '"refunds" is not known; did you mean refund?'],
  [['denylst', 'list'], 'did you mean denylist?'],
  [['refund', 'retyr', 'a'], 'did you mean retry?'],
  [['frobnicate'], `"frobnicate" is not known: ${names.join(', ')}.`],
  [['refund', 'status', '--as'], '--as needs a value'],
  [['toString'], '"toString" is not known'],
])('%j is refused, and the nearest named', async (argv, message) => {
  const { exit, stdout, stderr } = await kiosk402(...argv)
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('what it prints cannot steer the terminal of its operator', async () => {
  const { stderr } = await kiosk402('ada\u001b[2J\u0007 \u202eevil – “ok”')
  expect(stderr).toContain('"ada\\u{1b}[2J\\u{7} \\u{202e}evil – “ok”" is not known')
})

test('it knows its version', async () => {
  expect(await kiosk402('--version')).toMatchObject({ stdout: expect.stringMatching(/^\d+\.\d+/) })
})

describe('on a store', () => {
  const postgres = migratedPostgres()
  const isLive = { mode: 'live', network: networks['base-sepolia'].id } as const
  const asset = networks['base-sepolia'].usdc
  let database: Pool
  beforeEach(async () => {
    database = await postgres.open()
    stubStore()
    vi.stubEnv('SUDO_USER', 'ben')
    return () => database.end()
  })
  // The command takes the secrets out of the environment.
  const stubStore = () => {
    const settings = { ...live, DATABASE_URL: String(database.options.connectionString) }
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  }
  const ban = ['denylist', 'add', 'ada@example.com', '--reason', 'Case 17'] as const

  test('an act is kept with the name of the person, and a dry run says the same and keeps nothing', async () => {
    await claimIdentity(database, { ...isLive, asset, payTo: '0x1' })
    const dry = await kiosk402(...ban, '--dry-run')
    expect(dry).toMatchObject({ exit: 0, stdout: 'ada@example.com is on the list now' })
    expect(dry.stderr).toContain('A dry run: nothing of this is kept.')
    expect(await readDenied(database)).toEqual([])

    stubStore()
    const { stdout } = await kiosk402(...ban, '--json', '--as', 'anna')
    expect(JSON.parse(stdout)).toEqual([
      { party: 'ada@example.com', isDenied: true, isChanged: true, lists: ['hand'] },
    ])
    expect(await readDenied(database)).toMatchObject([{ by: 'anna', reason: 'Case 17' }])
  })

  test('it ends quietly when nobody reads on', async () => {
    await claimIdentity(database, { ...isLive, asset, payTo: '0x1' })
    const command = `"${process.execPath}" src/commands/main.ts export ledger --json | true`
    const { stderr } = await promisify(execFile)('sh', ['-c', command])
    expect(stderr).toMatch(/^kiosk402: live [^\n]*\n$/i)
  })

  test('that is another one nothing is done', async () => {
    await claimIdentity(database, { ...isLive, mode: 'sandbox', asset, payTo: '0x1' })
    const { exit, stdout, stderr } = await kiosk402(...ban)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toContain('This database belongs to a sandbox store')
    expect(await readDenied(database)).toEqual([])
  })
})

describe('settings', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    for (const name of ['MODE', 'DATA_DIR', 'DATABASE_URL']) vi.stubEnv(name, '')
    folder = mkdtempSync(join(tmpdir(), 'kiosk402-settings-'))
    file = join(folder, 'store.env')
    writeFileSync(file, 'STORE_NAME="Corner"\n', { mode: 0o600 })
    mkdirSync(join(folder, 'secrets'))
    return () => rmSync(folder, { recursive: true })
  })
  const secret = (name: string, value: string, mode = 0o600) =>
    writeFileSync(join(folder, 'secrets', name), value, { mode })

  test('are those of the file, with its secrets beside it, and nothing of the environment', () => {
    vi.stubEnv('STORE_NAME', 'Elsewhere')
    secret('DATABASE_URL', 'postgres://ada:geheim@db.example/corner\n')
    secret('README', 'no secret of the store')
    expect(findSettings(file)).toMatchObject({
      config: { site: { name: 'Corner' }, databaseUrl: 'postgres://ada:geheim@db.example/corner' },
      source: file,
    })
  })

  test('are those of the installed service, unless the environment names a store', () => {
    expect(findSettings(undefined, file).source).toBe(file)
    expect(findSettings(undefined, join(folder, 'missing')).source).toBe('the environment')
    vi.stubEnv('DATA_DIR', '/srv/sandbox')
    expect(findSettings(undefined, file)).toMatchObject({ config: { dataDir: '/srv/sandbox' } })
  })

  test('that other accounts can read are refused, with what closes them', async () => {
    chmodSync(file, 0o640)
    secret('DATABASE_URL', 'postgres://ada:geheim@db.example/corner', 0o604)
    const { exit, stdout, stderr } = await kiosk402('refund', 'status', '--settings', file)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    for (const one of [file, join(folder, 'secrets', 'DATABASE_URL')]) {
      expect(stderr).toContain(`${one} can be read by other accounts of this machine`)
      expect(stderr).toContain(`chmod 600 '${one}'`)
    }
    expect(stderr).not.toContain('geheim')
  })

  test('that cannot be read or are wrong are named', async () => {
    const missing = await kiosk402('refund', 'status', '--settings', join(folder, 'missing'))
    expect(missing).toMatchObject({ exit: 2, stderr: expect.stringContaining('ENOENT') })
    writeFileSync(file, 'MODE=life\n')
    const wrong = await kiosk402('refund', 'status', `--settings=${file}`)
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('MODE is "life"') })
  })

  test('say which store it is before the act, without a secret; one that is away is named', async () => {
    const { SECRETS_KEY, ...open } = { ...live, STORE_NAME: 'Corner' }
    const lines = Object.entries(open).map((pair) => pair.join('='))
    writeFileSync(file, lines.join('\n'), { mode: 0o600 })
    secret('SECRETS_KEY', SECRETS_KEY)
    secret('DATABASE_URL', 'postgres://ada:geheim@127.0.0.1:1/corner')
    const { exit, stdout, stderr } = await kiosk402('denylist', 'list', '--settings', file)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toContain(
      `Corner: live on Base Sepolia, database corner at 127.0.0.1:1, settings of ${file}`,
    )
    expect(stderr).toMatch(/kiosk402 denylist failed: .*ECONNREFUSED/)
    expect(stderr).not.toContain('geheim')
  })
})

test('the person is who is named, else who called sudo, else the account, else its number', () => {
  vi.stubEnv('SUDO_USER', 'ben')
  expect(personOf('anna')).toBe('anna')
  expect(personOf(undefined)).toBe('ben')
  vi.stubEnv('SUDO_USER', '')
  expect(personOf(undefined, () => ({ username: 'carl' }))).toBe('carl')
  const none = () => {
    throw new Error('uv_os_get_passwd returned ENOENT')
  }
  expect(personOf(undefined, none)).toBe(`uid ${process.getuid?.()}`)
})

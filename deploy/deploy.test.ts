import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig, stopWithinMs } from '../src/config.ts'
import { commonShape, liveShape, secretVariables } from '../src/environment/environment.ts'
import { filled, fronts, noOpenssl, placeFor } from '../test/harness/deployed.ts'
import { leftOut, works } from '../test/harness/left-out.ts'
import { homeIn, noServer } from '../test/harness/server.ts'

/** The output and exit status of a program. */
function run(program: string, args: readonly string[], env?: Record<string, string | undefined>) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    ...(env && { env: env as NodeJS.ProcessEnv }),
  })
  return { status, said: stdout + stderr }
}

const wellSaid = { status: 0, said: '' }

/** Known warnings: the test certificate names no OCSP responder, and nginx 1.25 has another syntax for http2. */
const isKnown = /OCSP|"listen \.\.\. http2" directive is deprecated/

describe.each(fronts)('the file for $name', (front) => {
  const why = noServer(front) ?? noOpenssl

  test.skipIf(why)('is taken by the program as it is', async () => {
    const place = await placeFor(['127.0.0.1:9', '127.0.0.1:10'])
    try {
      await front.write(place)
      const { status, said } = run(front.program, front.check(place.dir), homeIn(place.dir))
      const faults = said
        .split('\n')
        .filter((line) => /\[(?:warn|error|emerg)\]|"level":"(?:warn|error)"/.test(line))
      expect([status, ...faults.filter((line) => !isKnown.test(line))]).toEqual([0])
    } finally {
      await rm(place.dir, { recursive: true })
    }
  })
})

const unit = readFileSync('deploy/kiosk402@.service', 'utf8')
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^#?${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

describe('the unit', () => {
  const noSystemd = leftOut(
    works('systemd-analyze', '--version')
      ? undefined
      : 'systemd-analyze is not installed (on Debian: apt-get install systemd)',
  )

  test.skipIf(noSystemd)('is taken by systemd, and leaves its service little', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'kiosk402-unit-'))
    const file = join(dir, 'kiosk402@1.service')
    try {
      const program = ['/opt/kiosk402/scripts/run', resolve('scripts/run')] as const
      await writeFile(file, filled('kiosk402@.service', [program]))
      expect(run('systemd-analyze', ['verify', '--man=no', file])).toEqual(wellSaid)
      // From 0 to 100; without the restrictions it is 92.
      const security = ['security', '--offline=yes', '--threshold=20', '--no-pager', file]
      expect(run('systemd-analyze', security)).toMatchObject({ status: 0 })
    } finally {
      await rm(dir, { recursive: true })
    }
  })

  test.skipIf(noSystemd)(
    'of each timer is taken by systemd, and leaves its service little',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'kiosk402-timers-'))
      const program = ['/opt/kiosk402/scripts/kiosk402', resolve('scripts/kiosk402')] as const
      try {
        for (const timer of globSync('*.timer', { cwd: 'deploy' })) {
          const service = timer.replace('.timer', '.service')
          await writeFile(join(dir, timer), filled(timer, []))
          await writeFile(join(dir, service), filled(service, [program]))
          const files = [timer, service].map((file) => join(dir, file))
          expect(run('systemd-analyze', ['verify', '--man=no', ...files])).toEqual(wellSaid)
          const security = ['security', '--offline=yes', '--threshold=30', '--no-pager']
          const { status } = run('systemd-analyze', [...security, join(dir, service)])
          expect(status, service).toBe(0)
        }
      } finally {
        await rm(dir, { recursive: true })
      }
    },
  )

  test('passes every secret by its name, each as a file', () => {
    const handed = valuesOf('LoadCredential').map((value) => value.split(':'))
    for (const [name = '', file] of handed) {
      expect(secretVariables).toContain(name)
      expect(file).toBe(`/etc/kiosk402/secrets/${name}`)
    }
    const named = handed.map(([name]) => `${name}_FILE=%d/${name}`)
    expect(valuesOf('Environment').filter((value) => !/^(NODE_|PORT=)/.test(value))).toEqual(named)
  })

  test('waits for the longest stop that can be configured', () => {
    const longestDrain = 60
    expect(commonShape.DRAIN_SECONDS.safeParse(`${longestDrain}`).success).toBe(true)
    expect(commonShape.DRAIN_SECONDS.safeParse(`${longestDrain + 1}`).success).toBe(false)
    const waits = Number(valuesOf('TimeoutStopSec')[0])
    expect(waits).toBeGreaterThanOrEqual(longestDrain + stopWithinMs / 1_000)
  })

  test('starts a program that exists', () => {
    const [start = ''] = valuesOf('ExecStart')
    const [program = '', script = ''] = start.replaceAll('/opt/kiosk402/', '').split(' ')
    expect([existsSync(program), existsSync(script)]).toEqual([true, true])
  })
})

describe('the settings', () => {
  const open = parseEnv(readFileSync('deploy/store.env', 'utf8'))

  test('are those of the store, without any secret', () => {
    const known = Object.keys({ MODE: '', ...commonShape, ...liveShape })
    expect(Object.keys(open).filter((name) => !known.includes(name))).toEqual([])
    expect(Object.keys(open).filter((name) => secretVariables.includes(name))).toEqual([])
  })

  test('make a store with the secrets of the unit, once PAY_TO is put in', () => {
    const required = [...unit.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name = '']) => name)
    const secrets = Object.fromEntries(required.map((name) => [name, sampleOf[name]]))
    expect(() => readConfig({ ...open, ...secrets })).toThrow(/- PAY_TO is missing[^-]*$/)
    const config = readConfig({ ...open, ...secrets, PAY_TO: `0x${'1'.repeat(40)}` })
    expect(config).toMatchObject({
      mode: 'live',
      host: '127.0.0.1',
      trustProxy: ['127.0.0.1'],
      site: { url: 'https://store.example.com' },
    })
  })

  test('of the first two nodes are those that nginx and Caddy go to', () => {
    const port = valuesOf('Environment').find((value) => value.startsWith('PORT=')) ?? ''
    const nodes = [1, 2].map((node) => `${open['HOST']}:${port.slice(5).replace('%i', `${node}`)}`)
    for (const file of ['nginx.conf', 'Caddyfile']) {
      const text = readFileSync(`deploy/${file}`, 'utf8')
      for (const node of nodes) expect(text).toContain(node)
      expect(text).toContain(new URL(open['PUBLIC_URL'] ?? '').host)
    }
  })
})

test.each([
  ...['nginx.conf', 'Caddyfile', 'kiosk402@.service', 'store.env', 'alerts.yml'].map(
    (file) => `deploy/${file}`,
  ),
  'docs/operators/going-live.md',
])('%s names no variable that the store does not have', (file) => {
  const known = [
    'MODE',
    'NODE_ENV',
    'NODE_COMPILE_CACHE',
    ...Object.keys({ ...commonShape, ...liveShape }),
  ]
  const named = readFileSync(file, 'utf8').matchAll(/\b(?!AF_)[A-Z]\w*_[A-Z_]+\b/g)
  const variables = [...named].map(([name]) => name.replace(/_FILE$/, ''))
  expect(variables.filter((name) => !known.includes(name))).toEqual([])
})

/** A value for each secret that the unit passes. */
const sampleOf: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://kiosk402:password@10.0.0.20/kiosk402',
  REDIS_URL: 'redis://10.0.0.20:6379',
  RPC_URL: 'https://base-sepolia.example.com/key',
  RPC_WITNESS_URLS: 'https://another-base-sepolia.example.com/key',
  GAS_KEY: `0x${'ab'.repeat(32)}`,
  REFUND_KEY: `0x${'cd'.repeat(32)}`,
  SUPPLIER_KEY: 'key-of-the-supplier',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  METRICS_TOKEN: 'a-token-for-the-scraper',
}

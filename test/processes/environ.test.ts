import { existsSync, readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newDataDir, runToItsEnd, startChildStore } from '../child-store.ts'
import { get } from '../stories/requests.ts'
import { descendantsOf, fileOf } from './data-folder.ts'

let dataDir: string
const ends: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  dataDir = await newDataDir()
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await rm(dataDir, { recursive: true, force: true })
})

/** What others can see of that process. */
const shown = (pid: number) => fileOf(pid, 'environ') + fileOf(pid, 'cmdline')

/** The secrets that the sandbox has made for itself, and for its parts. */
function madeSecrets(): string[] {
  const json = (file: string) => JSON.parse(readFileSync(join(dataDir, file), 'utf8'))
  const { databaseUrl, secretsKey, parts } = json('connection.json')
  const { password } = new URL(databaseUrl ?? parts.databaseUrl)
  const ofParts = Object.values(json('services/access.json').secrets)
  const keys = Object.values(parts.chain.keys).filter((key) => String(key).length === 66)
  return [password, secretsKey, ...ofParts, ...keys] as string[]
}

test.skipIf(!existsSync('/proc/self/environ'))(
  'no process that the store starts shows a secret in its environment or on its command line',
  async () => {
    const token = join(dataDir, 'token')
    await writeFile(token, 'token-from-a-file-0123\n')
    await chmod(token, 0o640)
    const variables = join(dataDir, 'variables')
    await writeFile(variables, 'SMTP_URL=smtp://user:password-of-mail@127.0.0.1:9\n', {
      mode: 0o600,
    })
    const store = await startChildStore({
      dataDir,
      nodeArguments: [`--env-file=${variables}`],
      env: {
        SANDBOX_OFFERS: '600',
        METRICS_TOKEN_FILE: token,
        REDIS_URL: 'redis://:password-of-redis@127.0.0.1:9',
        PGPASSWORD: 'password-of-postgres',
        TOKEN_OF_ANOTHER_PROGRAM: 'token-of-another-program',
      },
    })
    ends.push(store.stop)
    const secrets = [
      ...['token-from-a-file-0123', 'password-of-mail', 'password-of-redis'],
      ...['password-of-postgres', 'token-of-another-program'],
      ...madeSecrets(),
    ]
    expect(secrets.length).toBeGreaterThanOrEqual(15)
    const pids = descendantsOf(store.process.pid ?? 0)
    // PostgreSQL with processes of its own, the chain, the supplier, BTCPay Server.
    expect(pids.length).toBeGreaterThanOrEqual(4)
    const leaks = pids.flatMap((pid) => secrets.filter((secret) => shown(pid).includes(secret)))
    expect(leaks).toEqual([])

    const authorization = 'Bearer token-from-a-file-0123'
    expect(await get(store.url, '/metrics', { authorization })).toMatchObject({ status: 200 })
    expect((await get(store.url, '/metrics')).status).toBe(404)
    const warned = store.output().match(/can be read by other accounts/g)
    expect(warned).toHaveLength(1)
    expect(store.output()).toContain(`close it: chmod 600 '${token}'`)
  },
)

const kiosk402 = 'src/commands/main.ts'
const commands = [['src/main.ts'], [kiosk402, 'refund', 'status'], [kiosk402, 'reconcile']]

test.each(commands.map((args) => ({ args, name: args.join(' ') })))(
  '$name reads secrets from files, and tells of one that it cannot read',
  async ({ args }) => {
    const missing = join(dataDir, 'missing')
    const environment = { MODE: 'live', GAS_KEY_FILE: missing }
    const { code, stderr } = await runToItsEnd(args, environment)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`GAS_KEY_FILE names ${missing}, which cannot be read`)

    const file = join(dataDir, 'key')
    await writeFile(file, 'not-a-private-key\n', { mode: 0o644 })
    const read = await runToItsEnd(args, { MODE: 'live', GAS_KEY_FILE: file })
    expect(read.stderr).toContain('GAS_KEY must be a private key')
    expect(read.stderr).toContain(`chmod 600 '${file}'`)
    expect(read.stderr).not.toContain('not-a-private-key')
  },
)

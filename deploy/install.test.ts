import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { works } from '../test/harness/left-out.ts'

const dir = mkdtempSync(join(tmpdir(), 'kiosk402-install-'))
const root = join(dir, 'root')
const name = `kiosk402-${packageJson.version}`

/** Debian 12 with what the installer would get from its mirror. */
function makeRoot(): boolean {
  const packages = ['postgresql', 'caddy', 'systemd', 'adduser', 'ca-certificates', 'iproute2']
  const debian = ['--variant=minbase', `--include=${packages.join(',')}`, 'bookworm', root]
  try {
    execFileSync('debootstrap', debian, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const canTry = process.getuid?.() === 0 && works('debootstrap', '--version')
const whyNot =
  canTry && makeRoot()
    ? undefined
    : 'debootstrap, its packages or the rights of root cannot be had here'
if (whyNot) console.warn(`Left out here: ${whyNot}`)
afterAll(() => rmSync(dir, { recursive: true }))

/** Runs a script in the root, in a network and with processes of its own, beside its PostgreSQL. */
function inRoot(script: string): string {
  const around = `mount -t proc proc /proc; mount -t tmpfs tmpfs /dev/shm; ip link set lo up
    pg_ctlcluster 15 main start; trap 'pg_ctlcluster 15 main stop' EXIT; ${script}`
  const apart = ['--mount', '--pid', '--net', '--fork', '--kill-child', 'chroot', root]
  return execFileSync('unshare', [...apart, 'sh', '-ec', around], { encoding: 'utf8' })
}

const install = `/srv/install.sh --node /srv/node /srv/${name}.tgz`

describe.skipIf(whyNot)('the installer, on a Debian 12', () => {
  beforeAll(() => {
    mkdirSync(join(root, 'srv/node/bin'), { recursive: true })
    execFileSync(process.execPath, ['scripts/release.ts', join(root, 'srv')], { stdio: 'ignore' })
    cpSync(process.execPath, join(root, 'srv/node/bin/node'))
    cpSync('deploy/install.sh', join(root, 'srv/install.sh'))
  })

  test('says what it would do, and does nothing', () => {
    expect(inRoot(`${install} --dry-run`)).toContain('Makes the account kiosk402')
    expect(existsSync(join(root, 'etc/kiosk402'))).toBe(false)
  })

  test('makes account, folders, roles, database, secrets, units, timers and proxy', () => {
    const asks = `select pg_get_userbyid(relowner) from pg_class where oid = 'audit.acts'::regclass`
    const said = inRoot(`${install}
      kiosk402 --version
      su postgres -c "psql -tA -d kiosk402 -c \\"${asks}\\""
      psql -tA "$(cat /etc/kiosk402/secrets/DATABASE_URL)" -c 'select current_user'
      systemctl is-enabled kiosk402@1.service kiosk402-backup.timer kiosk402-restore-drill.timer`)
    expect(said).toContain(
      [packageJson.version, 'kiosk402_audit', 'kiosk402', 'enabled', 'enabled', 'enabled'].join(
        '\n',
      ),
    )
    expect(statSync(join(root, 'etc/kiosk402/secrets/SECRETS_KEY')).mode & 0o077).toBe(0)
    const caddyfile = readFileSync(join(root, 'etc/caddy/Caddyfile'), 'utf8')
    expect(caddyfile).toBe(readFileSync('deploy/Caddyfile', 'utf8'))
  })

  test('once more, it keeps every secret and every setting', () => {
    const files = [
      'secrets/SECRETS_KEY',
      'secrets/METRICS_TOKEN',
      'secrets/DATABASE_URL',
      'store.env',
    ]
    const read = () => files.map((file) => readFileSync(join(root, 'etc/kiosk402', file), 'utf8'))
    const before = read()
    expect(inRoot(install)).not.toContain('Makes the account')
    expect(read()).toEqual(before)
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../sandbox/port.ts'
import { leftOut, works } from './left-out.ts'

const program = '/usr/sbin/pgbouncer'

/** The reason why no pooler can be started here; undefined if one can. */
export const noPgbouncer = leftOut(
  works(program, '--version')
    ? undefined
    : 'pgbouncer is not installed (on Debian: apt-get install pgbouncer)',
)

export type Pgbouncer = Awaited<ReturnType<typeof startPgbouncer>>

/** Starts a pooler before this database, with these lines in its section `[pgbouncer]`. */
export async function startPgbouncer(databaseUrl: string, lines: readonly string[]) {
  const { hostname, port, username, password } = new URL(databaseUrl)
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-pgbouncer-'))
  await chmod(dir, 0o711)
  const own = await freePort()
  const file = join(dir, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${own}`,
      'unix_socket_dir =',
      'auth_type = any',
      ...lines,
    ].join('\n'),
  )
  // pgbouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ready = Promise.withResolvers<void>()
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (output.includes('process up')) ready.resolve()
  })
  child.once('error', ready.reject)
  child.once('exit', () => ready.reject(new Error(`pgbouncer has ended:\n${output}`)))
  await ready.promise
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(own) }).href,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(dir, { recursive: true, force: true })
    },
  }
}

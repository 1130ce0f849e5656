import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../sandbox/port.ts'
import { leftOut, works } from './left-out.ts'

export type Redis = Awaited<ReturnType<typeof startRedis>>

/** The reason why no Redis can be started here; undefined if one can. */
export const noRedis = leftOut(
  works('redis-server', '--version')
    ? undefined
    : 'redis-server is not installed (on Debian: apt-get install redis-server)',
)

/** Starts a Redis of its own, without persistence. */
export async function startRedis(port?: number) {
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-redis-'))
  const at = port ?? (await freePort())
  const args = ['--port', String(at), '--bind', '127.0.0.1', '--dir', dir]
  const child = spawn('redis-server', [...args, '--save', '', '--appendonly', 'no'], {
    // With an inherited pipe, the run would wait for a server that outlived its test.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const remove = () => rm(dir, { recursive: true, force: true })
  const ready = Promise.withResolvers<void>()
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (output.includes('Ready to accept connections')) ready.resolve()
  })
  child.once('error', ready.reject)
  child.once('exit', () => ready.reject(new Error(`redis-server has ended:\n${output}`)))
  await ready.promise.catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    standStill: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await remove()
    },
  }
}

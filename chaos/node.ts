import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { NodeProcessSettings } from '../test/harness/node-process.ts'

const script = fileURLToPath(new URL('../test/harness/node-process.ts', import.meta.url))

/** How long a node's keeper waits before it starts the node again after a failed start. */
const restartMs = 300

/**
 * A store process, and a keeper that restarts it whenever it ends, as a process manager does. It may fail
 * to start while the database is down; once ready, it must not end by itself.
 */
export function keepNode(settings: NodeProcessSettings & { readonly logFile: string }) {
  const state: { child: ChildProcess | undefined; stopping: boolean; downUntil: number } = {
    child: undefined,
    stopping: false,
    downUntil: 0,
  }
  const ready = Promise.withResolvers<void>()
  const endedAlone: string[] = []
  const leftMs = () => state.downUntil - performance.now()
  const kept = keep()

  async function keep(): Promise<void> {
    while (!state.stopping) {
      const { wasReady, how } = await live()
      if (wasReady && how !== 'SIGKILL') endedAlone.push(`${settings.url} ended with ${how}`)
      await delay(restartMs)
      // A further kill meanwhile extends the time that the node is down.
      for (let left = leftMs(); left > 0; left = leftMs()) await delay(left)
    }
  }

  /** One life of the process, from its start to its end. */
  async function live(): Promise<{ wasReady: boolean; how: string }> {
    const log = openSync(settings.logFile, 'a')
    const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', log] })
    closeSync(log)
    state.child = child
    const life = { wasReady: false }
    child.stdout?.once('data', () => {
      life.wasReady = true
      ready.resolve()
    })
    // A process killed before it has read its settings breaks the pipe.
    child.stdin?.on('error', () => {})
    child.stdin?.end(JSON.stringify(settings))
    const [code, signal] = await once(child, 'exit')
    return { ...life, how: signal ?? `code ${code}` }
  }

  return {
    url: settings.url,
    ready: ready.promise,
    endedAlone: endedAlone as readonly string[],
    /** Kills it with SIGKILL; it is restarted after this many milliseconds. */
    async kill(downMs = 0) {
      state.downUntil = performance.now() + downMs
      await killNow(state.child)
    },
    async stop() {
      state.stopping = true
      await killNow(state.child)
      await kept
    },
  }
}

export type KeptNode = ReturnType<typeof keepNode>

/** Kills the process if it is running, and waits until it has ended. */
async function killNow(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

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
  /** Processes that this keeper killed. The kernel, when memory is short, sends the same signal. */
  const killed = new WeakSet<ChildProcess>()
  const endedAlone: string[] = []
  const leftMs = () => state.downUntil - performance.now()
  const kept = keep()

  async function keep(): Promise<void> {
    while (!state.stopping) {
      const { wasReady, wasKilled, how } = await live()
      if (wasReady && !wasKilled) endedAlone.push(`${settings.url} ended with ${how}`)
      await delay(restartMs)
      // A further kill meanwhile extends the time that the node is down.
      for (let left = leftMs(); left > 0; left = leftMs()) await delay(left)
    }
  }

  /** One life of the process, from its start to its end. */
  async function live(): Promise<{ wasReady: boolean; wasKilled: boolean; how: string }> {
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
    return {
      ...life,
      wasKilled: signal === 'SIGKILL' && killed.has(child),
      how: signal ?? `code ${code}`,
    }
  }

  /** Kills the process if it is running, and waits until it has ended. */
  async function killNow(): Promise<void> {
    const { child } = state
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    killed.add(child)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  return {
    url: settings.url,
    ready: ready.promise,
    endedAlone: endedAlone as readonly string[],
    /** The process of its present life. */
    pid: () => state.child?.pid,
    /** Kills it with SIGKILL; it is restarted after this many milliseconds. */
    async kill(downMs = 0) {
      state.downUntil = performance.now() + downMs
      await killNow()
    },
    async stop() {
      state.stopping = true
      await killNow()
      await kept
    },
  }
}

export type KeptNode = ReturnType<typeof keepNode>

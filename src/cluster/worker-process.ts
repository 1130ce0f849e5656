import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createIpcPeer, type IpcPeer, type IpcRequests } from './ipc.ts'
import { channelToChild } from './ipc-channel.ts'
import type { ConnectionReceiver } from './shared-port.ts'
import type { Worker, WorkerExit } from './workers.ts'

/** A worker process, from the primary's side. */
export interface WorkerProcess extends Worker, ConnectionReceiver {
  readonly id: number
  readonly pid: number | undefined
  readonly ipc: IpcPeer
  /** Resolves with the worker's catalog when it serves connections. */
  readonly ready: Promise<IpcRequests['ready']['params']>
  /** Ends the process with SIGKILL. */
  kill(): void
}

const program = fileURLToPath(new URL('./worker.ts', import.meta.url))

export interface StartOptions {
  /** Node's own options. */
  readonly execArgv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export function forkWorker(id: number, { execArgv, env }: StartOptions): WorkerProcess {
  const child = fork(program, [String(id)], { execArgv: [...execArgv], env: { ...env } })
  const ipc = createIpcPeer(channelToChild(child))
  const ready = Promise.withResolvers<IpcRequests['ready']['params']>()
  const exit = Promise.withResolvers<WorkerExit>()
  let failure: WorkerExit['failure']
  ipc.handle('ready', (catalog) => {
    ready.resolve(catalog)
    return null
  })
  ipc.handle('failed', (reported) => {
    failure = reported
    return null
  })
  // A process that could not be started emits no `close`. Every other error is followed by one.
  child.on('error', () => {
    if (child.pid === undefined) exit.resolve({ code: 1, signal: null, failure })
  })
  // `close` comes after the last message. A channel that is transferring a connection emits no `disconnect`.
  child.on('close', (code, signal) => {
    ipc.close()
    exit.resolve({ code, signal, failure })
  })
  return {
    id,
    pid: child.pid,
    ipc,
    ready: ready.promise,
    exit: exit.promise,
    receive: ipc.handOff,
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  }
}

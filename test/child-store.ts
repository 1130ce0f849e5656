import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from '../sandbox/port.ts'
import { plainEnvironment } from '../sandbox/process.ts'

export interface ChildStoreOptions {
  readonly dataDir: string
  readonly port?: number
  readonly env?: Readonly<Record<string, string>>
  /** What Node itself is told. */
  readonly nodeArguments?: readonly string[]
}

export interface ChildStore {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** From the start of the process to the first good answer of /readyz; milliseconds. */
  readonly readyInMs: number
  readonly output: () => string
  /** Sends the signal and waits for the end; milliseconds and exit code. */
  stop(signal?: NodeJS.Signals): Promise<{ ms: number; code: number | null }>
}

/** A data folder of its own for a store. */
export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'kiosk402-store-'))

/** The store as its user starts it, as a process of its own. */
export async function startChildStore(options: ChildStoreOptions): Promise<ChildStore> {
  const port = options.port ?? (await freePort())
  const startedAt = performance.now()
  const child = spawn(resolve('scripts/run'), [...(options.nodeArguments ?? []), 'src/main.ts'], {
    env: {
      ...plainEnvironment(),
      PORT: String(port),
      DATA_DIR: options.dataDir,
      // Every request of a test comes from another client (see fromAnywhere).
      TRUSTED_PROXIES: '1',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, child, () => output)
  return {
    url,
    port,
    process: child,
    readyInMs: performance.now() - startedAt,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      const at = performance.now()
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await once(child, 'exit')
      }
      return { ms: performance.now() - at, code: child.exitCode }
    },
  }
}

/** Only ends what hangs. A start takes two minutes beside twenty busy processes. */
const readyWithinMs = 280_000

async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline && child.exitCode === null) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  child.kill('SIGKILL')
  throw new Error(`The store did not become ready:\n${output()}`)
}

/** Starts the store with exactly this environment, for one that is expected to end by itself. */
export async function runStoreToItsEnd(env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await runToItsEnd(['src/main.ts'], env)
  return { code, output: stdout + stderr }
}

/** Runs a program of the store as its operator does. */
export async function runToItsEnd(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code: code as number | null, ...said }
}

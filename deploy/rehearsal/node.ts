import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { plainEnvironment } from '../../sandbox/process.ts'
import { stopWithinMs } from '../../src/config.ts'
import { secretVariables } from '../../src/environment/environment.ts'
import { filled } from '../../test/harness/deployed.ts'

/** Settings of a node, by variable. They override those of deploy/store.env. */
export type Settings = Readonly<Record<string, string>>

/** The settings that deploy/store.env leaves to the operator, as in that file. */
const open = ['PUBLIC_URL', 'PAY_TO', 'SUPPLIER_URL', 'HOST', 'TRUSTED_PROXIES'] as const

/** Writes the settings as in docs/operators/going-live.md: one file, and a further one for each secret. */
async function writeSettings(dir: string, settings: Settings) {
  await mkdir(join(dir, 'secrets'), { recursive: true, mode: 0o700 })
  const files: Record<string, string> = {}
  const further: string[] = []
  for (const [name, value] of Object.entries(settings)) {
    if (secretVariables.includes(name)) {
      const secret = join(dir, 'secrets', name)
      files[`${name}_FILE`] = secret
      await writeFile(secret, value, { mode: 0o600 })
    } else if (!open.some((one) => one === name)) {
      further.push(`${name}=${value}`)
    }
  }
  const template = readFileSync('deploy/store.env', 'utf8')
  const lines = open.map((name) => {
    const [line = name] = new RegExp(`^${name}=.*$`, 'm').exec(template) ?? []
    return [`\n${line}\n`, `\n${name}=${settings[name]}\n`] as const
  })
  const file = join(dir, 'store.env')
  await writeFile(file, `${filled('store.env', lines)}\n${further.join('\n')}\n`, { mode: 0o600 })
  return { file, files }
}

/** How long a node keeps serving after it is told to stop, by deploy/store.env. */
function drainMs(): number {
  const [, seconds] = /^DRAIN_SECONDS=(\d+)$/m.exec(readFileSync('deploy/store.env', 'utf8')) ?? []
  return Number(seconds) * 1_000
}

/** Only a start that hangs takes longer. */
const readyWithinMs = 300_000

/** A node as an operator runs it: a folder with its settings, and a process while it runs. */
export function createNode(dir: string, port: number) {
  const at = `127.0.0.1:${port}`
  const own: Settings = { HOST: '127.0.0.1', PORT: String(port) }
  const logFile = join(dir, 'node.log')
  let child: ChildProcess | undefined
  const endOfLog = () => readFileSync(logFile, 'utf8').slice(-2_000)
  const isRunning = () =>
    child !== undefined && child.exitCode === null && child.signalCode === null

  async function untilStatus(status: number): Promise<void> {
    const deadline = performance.now() + readyWithinMs
    for (;;) {
      const told = await lookAt(`http://${at}/readyz`)
      if (told.status === status) return
      if (!isRunning() || performance.now() > deadline) {
        throw new Error(
          `/readyz says ${told.status} instead of ${status}: ${told.text}\n${endOfLog()}`,
        )
      }
      await delay(20)
    }
  }

  return {
    at,
    untilStatus,
    /** Starts it as its service manager does, and waits until it sells. */
    async start(settings: Settings): Promise<void> {
      const { file, files } = await writeSettings(dir, { ...settings, ...own })
      const log = openSync(logFile, 'a')
      child = spawn(process.execPath, [`--env-file=${file}`, 'src/main.ts'], {
        env: { ...plainEnvironment(), ...files },
        stdio: ['ignore', log, log],
      })
      closeSync(log)
      await untilStatus(200)
    },
    async stop(): Promise<void> {
      if (child === undefined || !isRunning()) return
      const toldAt = performance.now()
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      // On a busy machine the node may have to cut off its last work, which no buyer may notice either.
      const isCutOff = code === 1 && performance.now() - toldAt > drainMs() + stopWithinMs
      if (code !== 0 && !isCutOff)
        throw new Error(`The node at ${at} ended with ${code}:\n${endOfLog()}`)
    },
    /** Runs the operator's command with the settings of this node. */
    async command(settings: Settings, args: readonly string[]) {
      const { file } = await writeSettings(dir, { ...settings, ...own })
      return runProgram(['src/commands/main.ts', ...args, '--settings', file], {})
    },
  }
}

/** Runs a program of the store until it exits. */
export async function runProgram(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code: code as number | null, said }
}

async function lookAt(url: string) {
  try {
    const answer = await fetch(url)
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

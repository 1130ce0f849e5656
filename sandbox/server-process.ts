import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { freePort } from './port.ts'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import {
  isAlive,
  launch,
  logTail,
  type ProcessId,
  plainEnvironment,
  terminate,
  waitUntil,
} from './process.ts'

export interface ServerLaunch<Secret extends string> {
  /** For messages: "The sandbox supplier did not start". */
  readonly name: string
  /** The server's own folder, with its record, its log and its data. */
  readonly dir: string
  /** The module to run. It must answer `GET /healthz` on the given port. */
  readonly main: URL
  /** The names of random secrets, which are made at the first start and never change. */
  readonly secrets: readonly Secret[]
  /** Its settings, by the names of its variables. They contain secrets, so they are passed in a file. */
  settings(port: number, secrets: Readonly<Record<Secret, string>>): Record<string, string>
}

interface LaunchedServer<Secret extends string> {
  readonly port: number
  readonly secrets: Readonly<Record<Secret, string>>
  stop(): Promise<void>
}

const record = z.object({
  port: z.int(),
  secrets: z.record(z.string(), z.string()),
  process: z.object({ pid: z.int(), birth: z.string() }).optional(),
})

/** In milliseconds. The server first reads its ledger, which may have many thousands of purchases. */
const startMs = 60_000

/**
 * Runs an HTTP server as a separate process. One that a killed store left running is stopped first: its state is in its
 * ledger, to which no two processes may write. The port stays the same if possible, because URLs that the server has
 * given out contain it.
 */
export async function launchServer<Secret extends string>(
  options: ServerLaunch<Secret>,
): Promise<LaunchedServer<Secret>> {
  await mkdir(options.dir, { recursive: true })
  const file = join(options.dir, 'process.json')
  const known = await readRecord(file)
  if (known.process) await end(known.process)
  const port = await freePort(known.port === 0 ? undefined : known.port)
  const secrets = allOf(options.secrets, known.secrets)
  const logFile = join(options.dir, 'server.log')
  const settingsFile = join(options.dir, 'settings.json')
  await writePrivateFile(settingsFile, JSON.stringify(options.settings(port, secrets)))
  const process = await launch({
    command: globalThis.process.execPath,
    args: [fileURLToPath(options.main)],
    logFile,
    env: { ...plainEnvironment(), SETTINGS_FILE: settingsFile },
  })
  await writePrivateFile(file, JSON.stringify({ port, secrets, process }))
  await untilReady(options.name, process, port, logFile)
  return { port, secrets, stop: () => end(process) }
}

async function readRecord(file: string): Promise<z.infer<typeof record>> {
  const text = await readFileIfThere(file)
  return text === undefined ? { port: 0, secrets: {} } : record.parse(JSON.parse(text))
}

function allOf<Secret extends string>(
  names: readonly Secret[],
  known: Readonly<Record<string, string>>,
): Record<Secret, string> {
  const pairs = names.map((name) => [name, known[name] ?? secret()] as const)
  return Object.fromEntries(pairs) as Record<Secret, string>
}

async function untilReady(
  name: string,
  process: ProcessId,
  port: number,
  logFile: string,
): Promise<void> {
  const ready = await waitUntil(async () => !isAlive(process) || (await answers(port)), startMs, 25)
  if (ready && isAlive(process)) return
  await end(process)
  throw new Error(`The sandbox ${name} did not start:\n${logTail(logFile)}`)
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}

function end(process: ProcessId): Promise<void> {
  return terminate(process, [
    ['SIGTERM', 3_000],
    ['SIGKILL', 10_000],
  ])
}

function secret(): string {
  return `sandbox_${randomBytes(24).toString('base64url')}`
}

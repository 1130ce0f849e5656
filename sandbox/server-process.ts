import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { freePort } from './port.ts'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import { launch, logTail, plainEnvironment, untilEarlierEnded, waitUntil } from './process.ts'

export interface ServerLaunch<Secret extends string> {
  /** For messages: "The sandbox supplier did not start". */
  readonly name: string
  /** The server's own folder, with its secrets, its log and its data. */
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

const access = z.object({ port: z.int(), secrets: z.record(z.string(), z.string()) })

/** In milliseconds. The server first reads its ledger, which may have many thousands of purchases. */
const startMs = 60_000

/**
 * Runs an HTTP server as a separate process, which ends with this one at the latest. The port stays the same if
 * possible, because URLs that the server has given out contain it.
 */
export async function launchServer<Secret extends string>(
  options: ServerLaunch<Secret>,
): Promise<LaunchedServer<Secret>> {
  await mkdir(options.dir, { recursive: true })
  const processFile = join(options.dir, 'process.json')
  await untilEarlierEnded(processFile)
  const file = join(options.dir, 'access.json')
  const text = await readFileIfThere(file)
  const known = text === undefined ? undefined : access.parse(JSON.parse(text))
  const port = await freePort(known?.port)
  const pairs = options.secrets.map((name) => [name, known?.secrets[name] ?? newSecret()] as const)
  const secrets = Object.fromEntries(pairs) as Record<Secret, string>
  const logFile = join(options.dir, 'server.log')
  const settingsFile = join(options.dir, 'settings.json')
  await writePrivateFile(settingsFile, JSON.stringify(options.settings(port, secrets)))
  await writePrivateFile(file, JSON.stringify({ port, secrets }))
  const server = await launch({
    command: process.execPath,
    args: [fileURLToPath(options.main)],
    logFile,
    processFile,
    env: { ...plainEnvironment(), SETTINGS_FILE: settingsFile },
  })
  await waitUntil(async () => server.hasEnded() || (await answers(port)), startMs, 10)
  if (!server.hasEnded() && (await answers(port))) return { port, secrets, stop: server.stop }
  await server.stop()
  throw new Error(`The sandbox ${options.name} did not start:\n${logTail(logFile)}`)
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}

function newSecret(): string {
  return `sandbox_${randomBytes(24).toString('base64url')}`
}

import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { freePort } from '../port.ts'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'
import { isAlive, launch, logTail, type ProcessId, terminate, waitUntil } from '../process.ts'

export interface LaunchedSupplier {
  /** Where its API is, version included. */
  readonly url: string
  readonly ratesUrl: string
  readonly apiKey: string
  readonly webhook: { readonly header: string; readonly value: string }
  stop(): Promise<void>
}

export interface SupplierLaunch {
  readonly dataDir: string
  readonly offers: number
  readonly lateSeconds: number
  /** The pace of its purchases, in milliseconds; its own when left out. */
  readonly stepMs?: number
  /** Where the store takes webhooks. */
  readonly webhookUrl: string
}

const record = z.object({
  port: z.int(),
  apiKey: z.string(),
  webhookValue: z.string(),
  process: z.object({ pid: z.int(), birth: z.string() }).optional(),
})
type Record = z.infer<typeof record>

const webhookHeader = 'x-supplier-webhook'
const startMs = 15_000

/**
 * Runs the supplier as a process of its own. One that a killed store left behind is ended first:
 * everything that matters is in its ledger, and no two may write to one.
 */
export async function launchSupplier(options: SupplierLaunch): Promise<LaunchedSupplier> {
  const dir = join(options.dataDir, 'supplier')
  await mkdir(dir, { recursive: true })
  const file = join(dir, 'process.json')
  const known = await readRecord(file)
  if (known.process) await end(known.process)
  // The port stays the same where it can, because brand pictures name it.
  const port = await freePort(known.port === 0 ? undefined : known.port)
  const logFile = join(dir, 'supplier.log')
  const process = await launch({
    command: globalThis.process.execPath,
    args: [fileURLToPath(new URL('./main.ts', import.meta.url))],
    logFile,
    env: environmentOf(options, { ...known, port }, dir),
  })
  await writePrivateFile(file, JSON.stringify({ ...known, port, process }))
  await untilReady(process, port, logFile)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    ratesUrl: `http://127.0.0.1:${port}/rates/v1/latest`,
    apiKey: known.apiKey,
    webhook: { header: webhookHeader, value: known.webhookValue },
    stop: () => end(process),
  }
}

async function readRecord(file: string): Promise<Record> {
  const text = await readFileIfThere(file)
  if (text !== undefined) return record.parse(JSON.parse(text))
  return { port: 0, apiKey: secret(), webhookValue: secret() }
}

function environmentOf(options: SupplierLaunch, known: Record, dir: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    SUPPLIER_PORT: String(known.port),
    SUPPLIER_API_KEY: known.apiKey,
    SUPPLIER_DATA_FILE: join(dir, 'ledger.jsonl'),
    SANDBOX_OFFERS: String(options.offers),
    SUPPLIER_WEBHOOK_URL: options.webhookUrl,
    SUPPLIER_WEBHOOK_HEADER_NAME: webhookHeader,
    SUPPLIER_WEBHOOK_HEADER_VALUE: known.webhookValue,
    SUPPLIER_LATE_SECONDS: String(options.lateSeconds),
    ...(options.stepMs === undefined ? {} : { SUPPLIER_STEP_MS: String(options.stepMs) }),
  }
}

async function untilReady(process: ProcessId, port: number, logFile: string): Promise<void> {
  const ready = await waitUntil(async () => !isAlive(process) || (await answers(port)), startMs, 25)
  if (ready && isAlive(process)) return
  await end(process)
  throw new Error(`The sandbox supplier did not start:\n${logTail(logFile)}`)
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
    ['SIGKILL', 2_000],
  ])
}

function secret(): string {
  return `sandbox_${randomBytes(24).toString('base64url')}`
}

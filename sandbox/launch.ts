import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { BtcpayOptions } from './btcpay/deps.ts'
import { freePort } from './port.ts'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import { launch, logTail, untilEarlierEnded, waitUntil } from './process.ts'
import type { SupplierOptions } from './supplier/server.ts'

export interface SupplierAccess {
  /** The URL of its API, including the version. */
  readonly url: string
  readonly ratesUrl: string
  readonly apiKey: string
  readonly webhook: { readonly header: string; readonly value: string }
}

export interface BtcpayAccess {
  /** Its origin: the page for people, with Greenfield below `/api/v1`. */
  readonly url: string
  readonly storeId: string
  readonly apiKey: string
  readonly webhookSecret: string
}

interface SupplierSettings {
  readonly dataDir: string
  readonly offers: number
  readonly lateSeconds: number
  readonly stepMs?: number
  /** The URL of the store's webhook for the supplier. */
  readonly webhookUrl: string
}

export interface ServicesSettings extends SupplierSettings {
  /** The URL of the store's webhook for BTCPay Server. */
  readonly btcpayWebhookUrl: string
}

const accessShape = z.object({
  ports: z.tuple([z.int(), z.int()]),
  secrets: z.record(
    z.enum(['supplierKey', 'supplierWebhook', 'btcpayKey', 'btcpayWebhook', 'seed']),
    z.string(),
  ),
})

const webhookHeader = 'x-supplier-webhook'
const storeId = 'SandboxStore1111111111111111111111111111111'
/** In milliseconds. The servers first read their ledgers, which may have many thousands of purchases. */
const startMs = 60_000

/** Runs the supplier and BTCPay Server in a process of their own, which ends with this one at the latest. */
export async function launchServices(settings: ServicesSettings) {
  const dir = join(settings.dataDir, 'services')
  const { ports, secrets } = await accessIn(dir)
  const { supplier, supplierAccess } = supplierOf(settings, dir, ports[0], secrets)
  const { btcpay, btcpayAccess } = btcpayOf(settings.btcpayWebhookUrl, dir, ports[1], secrets)
  const { stop } = await run(dir, { supplier, btcpay })
  return { supplier: supplierAccess, btcpay: btcpayAccess, stop }
}

/** Runs the supplier alone. */
export async function launchSupplier(settings: SupplierSettings) {
  const dir = join(settings.dataDir, 'supplier')
  const { ports, secrets } = await accessIn(dir)
  const { supplier, supplierAccess } = supplierOf(settings, dir, ports[0], secrets)
  return { ...supplierAccess, ...(await run(dir, { supplier })) }
}

/** Runs BTCPay Server alone. */
export async function launchBtcpay({
  dataDir,
  webhookUrl,
}: Pick<SupplierSettings, 'dataDir' | 'webhookUrl'>) {
  const dir = join(dataDir, 'btcpay')
  const { ports, secrets } = await accessIn(dir)
  const { btcpay, btcpayAccess } = btcpayOf(webhookUrl, dir, ports[1], secrets)
  return { ...btcpayAccess, ...(await run(dir, { btcpay })) }
}

type Access = z.infer<typeof accessShape>

/**
 * The ports and secrets of a folder, made at the first start. The ports stay the same if possible, because URLs that
 * the servers have given out contain them.
 */
async function accessIn(dir: string): Promise<Access> {
  await mkdir(dir, { recursive: true })
  await untilEarlierEnded(join(dir, 'process.json'))
  const file = join(dir, 'access.json')
  const text = await readFileIfThere(file)
  const known = text === undefined ? undefined : accessShape.parse(JSON.parse(text))
  const secret = () => `sandbox_${randomBytes(24).toString('base64url')}`
  const access: Access = {
    ports: [await freePort(known?.ports[0]), await freePort(known?.ports[1])],
    secrets: known?.secrets ?? {
      ...{ supplierKey: secret(), supplierWebhook: secret() },
      ...{ btcpayKey: secret(), btcpayWebhook: secret(), seed: secret() },
    },
  }
  await writePrivateFile(file, JSON.stringify(access))
  return access
}

function supplierOf(
  { offers, lateSeconds, stepMs, webhookUrl: url }: SupplierSettings,
  dir: string,
  port: number,
  { supplierKey: apiKey, supplierWebhook: value }: Access['secrets'],
) {
  const supplier: SupplierOptions = {
    ...{ offers, lateSeconds, stepMs, port, apiKey, dataFile: join(dir, 'supplier.jsonl') },
    webhook: { url, headerName: webhookHeader, headerValue: value },
  }
  const supplierAccess: SupplierAccess = {
    url: `http://127.0.0.1:${port}/v1`,
    ratesUrl: `http://127.0.0.1:${port}/rates/v1/latest`,
    apiKey,
    webhook: { header: webhookHeader, value },
  }
  return { supplier, supplierAccess }
}

function btcpayOf(
  webhookUrl: string,
  dir: string,
  port: number,
  { btcpayKey: apiKey, btcpayWebhook: webhookSecret, seed }: Access['secrets'],
) {
  const btcpay: BtcpayOptions = {
    ...{ port, apiKey, storeId, seed, dataFile: join(dir, 'btcpay.jsonl') },
    webhook: { url: webhookUrl, secret: webhookSecret },
  }
  const url = `http://127.0.0.1:${port}`
  const btcpayAccess: BtcpayAccess = { url, storeId, apiKey, webhookSecret }
  return { btcpay, btcpayAccess }
}

/** What the process of the services starts, from the file that its argument names. */
export interface Services {
  readonly supplier?: SupplierOptions
  readonly btcpay?: BtcpayOptions
}

async function run(dir: string, services: Services) {
  const logFile = join(dir, 'server.log')
  const settingsFile = join(dir, 'settings.json')
  // It contains secrets, which an environment or a command line would show.
  await writePrivateFile(settingsFile, JSON.stringify(services))
  const { pid, hasEnded, stop } = await launch({
    command: process.execPath,
    args: [fileURLToPath(new URL('./services.ts', import.meta.url)), settingsFile],
    logFile,
    processFile: join(dir, 'process.json'),
  })
  const ports = [services.supplier, services.btcpay].flatMap((part) => part?.port ?? [])
  const answer = async () => (await Promise.all(ports.map(answers))).every(Boolean)
  await waitUntil(async () => hasEnded() || (await answer()), startMs)
  if (!hasEnded() && (await answer())) return { pid, stop }
  await stop()
  throw new Error(`The sandbox's services did not start:\n${logTail(logFile)}`)
}

/** They listen only once they answer. A look that sends no request leaves the processor to what is starting. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

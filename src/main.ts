import { holdPort } from './app/port.ts'
import { startParts } from './app/sandbox-parts.ts'
import { type Config, readConfig, stopWithinMs } from './config.ts'
import { ConfigError } from './environment/environment.ts'
import { ownEnvironment } from './environment/secret-files.ts'
import { StartRefused } from './lib/errors.ts'

/** A terminal that is closed sends SIGHUP to its processes. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const ending = new AbortController()

/** EX_CONFIG of sysexits(3): systemd does not start it again (deploy/kiosk402@.service). */
const refused = 78

/** The chain of the sandbox may take so long to save its state. */
const savesWithinMs = 60_000

async function main(): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig(ownEnvironment(console.warn))
  const port = await holdPort(config)
  const starting = start(config)
  endOnSignal(starting, config)
  const { service, payUrl } = await starting
  if (service === undefined || ending.signal.aborted) return
  await port.handTo(service.app)
  announce(config, service.catalog(), performance.now() - startedAt, payUrl)
}

/** After a signal, no store is started on the sandbox's parts. */
async function start(config: Config) {
  const parts = startParts(config)
  // Loaded only now, while the parts start in processes of their own.
  const loading = import('./app.ts')
  const sandbox = await parts
  try {
    const { startStore } = await loading
    const store = ending.signal.aborted ? undefined : await startStore(config, sandbox)
    const stop = async (drainMs: number) => {
      await store?.stop(drainMs)
      await sandbox?.stop()
    }
    return { service: store?.service, stop, payUrl: sandbox?.btcpay.url }
  } catch (error) {
    await sandbox?.stop()
    throw error
  }
}

/**
 * Exits with 0, or with 1 when stopping failed or took too long. During the start, it waits for what is starting, so
 * that nothing stays behind; a start that fails then has cleaned up by itself.
 */
function endOnSignal(starting: ReturnType<typeof start>, { mode, drainMs }: Config): void {
  const limitMs = stopWithinMs + drainMs + (mode === 'sandbox' ? savesWithinMs : 0)
  const end = async () => {
    const started = await starting.catch(() => undefined)
    setTimeout(() => process.exit(1), limitMs).unref()
    await started?.stop(drainMs)
  }
  for (const signal of endings) {
    process.on(signal, () => {
      if (ending.signal.aborted) return
      ending.abort()
      end().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}

/** In live mode it goes to standard error, because standard output carries only the log. */
function announce(
  config: Config,
  catalog: { readonly offers: number; readonly rejected: number; readonly readAt: Date },
  startedInMs: number,
  payUrl?: string,
): void {
  const { url, name } = config.site
  const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const mode =
    config.mode === 'live'
      ? `${config.isRehearsal ? 'REHEARSAL with test money' : 'live'} on ${config.network.name}, paid to ${config.payTo}`
      : `sandbox: test money, test goods, kept in ${config.dataDir}`
  const lines = [
    '',
    `  ${name} is ready (${(startedInMs / 1_000).toFixed(1)} s), ${mode}`,
    `  Listening on ${address}, published as ${url}`,
    `  ${catalog.offers} offers, ${catalog.rejected} rejected, read ${catalog.readAt.toISOString()}`,
    '',
    `  Website      ${url}/`,
    `  Search       ${url}/ai/search?query=amazon+gift+card`,
    `  Manifest     ${url}/.well-known/x402`,
    `  Health       ${url}/readyz`,
    ...(config.mode === 'sandbox'
      ? [
          `  Pay in coins ${payUrl} lists the invoices, with buttons for correct and incorrect payments`,
          `  Chain        ${url}/sandbox tells its address; POST ${url}/sandbox/faucet gives test USDC`,
          '',
          '  Now try, in another terminal:  npm run demo',
        ]
      : []),
    '  Stop with Ctrl-C.',
    '',
  ]
  const write = config.mode === 'live' ? console.error : console.log
  write(lines.join('\n'))
}

/** With the stack if LOG_LEVEL asks for details. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const wantsDetails = ['trace', 'debug'].includes(process.env['LOG_LEVEL'] ?? '')
  return `The store cannot start: ${wantsDetails ? (error.stack ?? error.message) : error.message}`
}

function isRefused(error: unknown): boolean {
  return error instanceof ConfigError ? !error.mayPass : error instanceof StartRefused
}

main().catch((error: unknown) => {
  console.error(reasonOf(error))
  // After a signal, `endOnSignal` exits.
  if (!ending.signal.aborted) process.exit(isRefused(error) ? refused : 1)
})

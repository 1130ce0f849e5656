import { holdPort } from './app/port.ts'
import { startParts } from './app/sandbox-parts.ts'
import { type Config, readConfig, stopWithinMs } from './config.ts'
import { ConfigError } from './environment/environment.ts'
import { ownEnvironment } from './environment/secret-files.ts'

/** A terminal that is closed sends SIGHUP to its processes. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The store as its operator starts it. */
async function main(): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig(ownEnvironment(console.warn))
  const port = await holdPort(config)
  const starting = start(config)
  const isEnding = onSignal(starting, config.drainMs)
  const { service, payUrl } = await starting
  if (isEnding()) return
  await port.handTo(service.app)
  announce(config, service.catalog(), performance.now() - startedAt, payUrl)
}

/** A store, with the sandbox that stops after it. */
async function start(config: Config) {
  const parts = startParts(config)
  // Loaded only now, while the parts start in processes of their own.
  const loading = import('./app/store-process.ts')
  const sandbox = await parts
  try {
    const { startStore } = await loading
    const { service, stop } = await startStore(config, sandbox)
    const stopAll = async (drainMs: number) => {
      await stop(drainMs)
      await sandbox?.stop()
    }
    return { service, stop: stopAll, payUrl: sandbox?.btcpay.url }
  } catch (error) {
    await sandbox?.stop()
    throw error
  }
}

/**
 * Ends the process on a signal: with 0, or with 1 when stopping failed or took too long. On a signal during the
 * start, it finishes the start and stops at once, so that nothing stays behind.
 *
 * @param starting the start under way; it cleans up by itself when it fails
 * @param drainMs how long the store serves on, so that its load balancer sees that it is leaving
 * @returns whether the process was told to end
 */
function onSignal(starting: ReturnType<typeof start>, drainMs: number): () => boolean {
  let isEnding = false
  const end = async () => {
    const started = await starting.catch(() => undefined)
    setTimeout(() => process.exit(1), stopWithinMs + drainMs).unref()
    await started?.stop(drainMs)
  }
  for (const signal of endings) {
    process.on(signal, () => {
      if (isEnding) return
      isEnding = true
      end().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
  return () => isEnding
}

/**
 * Prints that the store is ready: what runs, and where to look. In live mode it goes to standard error, because
 * standard output carries only the log.
 *
 * @param payUrl where the sandbox's buyers pay in coins
 */
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

/** The message for the operator; with the stack if LOG_LEVEL asks for details. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const wantsDetails = ['trace', 'debug'].includes(process.env['LOG_LEVEL'] ?? '')
  return `The store cannot start: ${wantsDetails ? (error.stack ?? error.message) : error.message}`
}

main().catch((error: unknown) => {
  console.error(reasonOf(error))
  process.exit(1)
})

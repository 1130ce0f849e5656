import type { Config } from '../config.ts'

/** Prints a line about a step of the start that takes a moment. */
export function progress(message: string): void {
  console.log(`  … ${message}`)
}

/**
 * Prints that the store is ready: what runs, and where to look. In live mode it goes to standard error, because
 * standard output carries only the log.
 *
 * @param payUrl where the sandbox's buyers pay in coins; only a sandbox has it
 */
export function announce(
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

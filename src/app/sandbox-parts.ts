import type { Sandbox, SandboxParts } from '../../sandbox/sandbox.ts'
import type { Config, SandboxConfig, StoreConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { readMethods } from '../payments/btcpay-methods.ts'
import { coins } from '../payments/coins.ts'
import { networks } from '../payments/networks.ts'

/** Nothing else imports the sandbox, so live mode never loads it. */
export async function loadSandbox() {
  try {
    const [{ startSandbox }, { runningSandbox }] = await Promise.all([
      import('../../sandbox/sandbox.ts'),
      import('../../sandbox/connection.ts'),
    ])
    return { startSandbox, runningSandbox }
  } catch (error) {
    const missing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    const problem = 'the sandbox is not installed: run npm ci without --omit=dev, or set MODE=live'
    throw missing ? new ConfigError([problem]) : error
  }
}

const progress = (message: string) => console.log(`  … ${message}`)

export async function startParts(config: Config): Promise<Sandbox | undefined> {
  if (config.mode === 'live') return undefined
  const { startSandbox } = await loadSandbox()
  const sandbox = await startSandbox({
    ...sandboxOptions(config),
    onProgress: progress,
    onProblem: (error) => console.error(`The sandbox chain has stopped: ${error.message}`),
  })
  progress('Reading the catalog')
  return sandbox
}

export function sandboxOptions(config: SandboxConfig) {
  const deliverSeconds = config.policy.deliverWithinMs / 1_000
  const store = `http://${reachableHost(config.host)}:${config.port}`
  return {
    dataDir: config.dataDir,
    offers: config.offers,
    databaseUrl: config.databaseUrl,
    lateSeconds: deliverSeconds + Math.max(5, Math.round(deliverSeconds / 10)),
    webhookUrl: `${store}/webhooks/supplier`,
    btcpayWebhookUrl: `${store}/webhooks/btcpay`,
  }
}

export function sandboxOutside(
  config: SandboxConfig,
  { chain, supplier, btcpay, databaseUrl, secretsKey }: SandboxParts,
): Exclude<StoreConfig, { readonly mode: 'live' }> {
  return {
    ...config,
    network: networks['base-sepolia'],
    rpcUrl: chain.rpcUrl,
    pollMs: 50,
    // An idle sandbox chain makes a block every 30 s, to keep its file small.
    maxHeadSeconds: 90,
    payTo: chain.keys.payTo,
    gasKey: chain.keys.gas,
    refundKey: chain.keys.refund,
    walletFactories: [],
    databaseUrl,
    suppliers: { zendit: { url: supplier.url, key: supplier.apiKey, webhook: supplier.webhook } },
    ratesUrl: supplier.ratesUrl,
    processor: { ...btcpay, methods: readMethods(coins.join(',')), isTestnet: true },
    secretsKeys: [secretsKey],
  }
}

/** `0.0.0.0` and `::` mean every address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

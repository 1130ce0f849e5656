import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { isOutage } from '../../src/adapters/storage/database.ts'
import type { ServiceOptions } from '../../src/app/store-server.ts'
import { openCounting, type Service, startService } from '../../src/app.ts'
import {
  type Outside,
  type ProcessorAccess,
  readConfig,
  type SandboxConfig,
} from '../../src/config.ts'
import { createLog } from '../../src/logging/log.ts'
import { networks } from '../../src/payments/networks.ts'
import type { SupplierAccess } from '../../src/suppliers/supplier.ts'

/** The settings of one node of a story's store, as plain data that can be passed to another process. */
export interface NodeSettings {
  readonly url: string
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  readonly rpcUrl: string
  readonly payTo: string
  readonly gasKey: `0x${string}`
  readonly refundKey: `0x${string}`
  readonly databaseUrl: string
  readonly facilitatorUrl?: string | undefined
  readonly facilitatorKey?: { readonly secret: string; readonly id?: string } | undefined
  readonly supplierUrl: string
  readonly supplierKey: string
  /** How further suppliers are reached. */
  readonly suppliers?: Readonly<Record<string, SupplierAccess>> | undefined
  /** The payment processor for coins, if the store takes any. */
  readonly processor?: ProcessorAccess | undefined
  /** Its SECRETS_KEY in base64, if the story sets one. */
  readonly secrets?: readonly string[] | undefined
  readonly webhook: { readonly header: string; readonly value: string }
  /** How buyers' webhooks are reached. A node in a process of its own resolves every host to 127.0.0.1. */
  readonly receivers?: ServiceOptions['receivers']
  readonly lookEveryMs?: number | undefined
}

/** How the store reaches all its suppliers. */
export function suppliersOf(settings: NodeSettings): Outside['suppliers'] {
  const { supplierUrl, supplierKey: key, webhook, suppliers } = settings
  return { zendit: { url: `${supplierUrl}/v1`, key, webhook }, ...suppliers }
}

/** The SECRETS_KEY of the stores of all stories. */
export const secretsKey = createHash('sha256').update('story').digest()

/**
 * Starts a node of a store, which listens at its URL.
 *
 * @param prepare called with the app before it listens
 */
export async function startNode(
  settings: NodeSettings,
  write: (line: string) => void,
  prepare: (app: FastifyInstance) => void = () => undefined,
): Promise<Service> {
  const { url, port, env, secrets, receivers, lookEveryMs, ...outside } = settings
  const secretsKeys = secrets?.map((key) => Buffer.from(key, 'base64')) ?? [secretsKey]
  const config = readConfig({ PUBLIC_URL: url, ...env, PORT: String(port) }) as SandboxConfig
  const log = createLog('trace', { write }, isOutage)
  const { counting, close } = await openCounting(config, secretsKeys, log)
  const service = await startService({
    config: {
      ...config,
      ...outside,
      network: networks['base-sepolia'],
      pollMs: 20,
      maxHeadSeconds: 90,
      walletFactories: [],
      suppliers: suppliersOf(settings),
      ratesUrl: `${settings.supplierUrl}/rates/v1/latest`,
      secretsKeys,
    },
    log,
    counting,
    receivers,
    lookEveryMs,
  })
  prepare(service.app)
  await service.app.listen({ host: '127.0.0.1', port })
  const stop = async () => {
    await service.stop(config.drainMs)
    close?.()
  }
  return { ...service, stop }
}

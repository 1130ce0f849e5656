import * as z from 'zod'
import type { Site } from './api/operation.ts'
import { publicUrl } from './environment/common.ts'
import {
  ConfigError,
  commonShape,
  liveShape,
  needProblems,
  problemOf,
  sandboxShape,
  settingsOf,
  sharedOf,
} from './environment/environment.ts'
import { realNetworks, testNetworks } from './environment/live.ts'
import { variablesOf } from './environment/suppliers.ts'
import { listOf, plainUrl, type TrustedProxies, walletOf } from './environment/variable.ts'
import { usdc } from './lib/money.ts'
import { coins } from './payments/coins.ts'
import { type Network, networks } from './payments/networks.ts'
import type { SupplierAccess, SupplierIntegration } from './suppliers/supplier.ts'
import { type SupplierName, supplierNames, suppliers } from './suppliers/suppliers.ts'

/** What may be undefined may also be left out. */
type Settings<T> = {
  readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name]
} & { readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: T[Name] }

export type Common = Settings<ReturnType<typeof commonOf>>

export type Outside = Settings<ReturnType<typeof outsideOf>>

export type ProcessorAccess = Settings<NonNullable<ReturnType<typeof processorOf>>>

export type SandboxConfig = ReturnType<typeof sandboxConfig>
type LiveConfig = ReturnType<typeof liveConfig>
export type Config = SandboxConfig | LiveConfig

/** The settings of a store that runs, to which the sandbox has added its parts. */
export type StoreConfig = LiveConfig | (Omit<SandboxConfig, 'databaseUrl'> & Outside)

interface FacilitatorKey {
  readonly secret: string
  readonly id?: string | undefined
}

type Variables = Readonly<Record<string, string | undefined>>

/** Stopping may take this long after `DRAIN_SECONDS`; then the process exits anyway. */
export const stopWithinMs = 9_000

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Variables): Config {
  const variables = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== ''),
  )
  const mode = variables['MODE'] ?? 'sandbox'
  if (mode === 'live') return liveConfig(variables)
  if (mode === 'sandbox') return sandboxConfig(variables)
  throw new ConfigError([`MODE is "${mode}"; it must be sandbox or live`])
}

function sandboxConfig(variables: Variables) {
  const { DATABASE_URL, ...onlyLive } = liveShape
  const strays = Object.keys(onlyLive).filter((name) => name in variables)
  const shape = z.object({ ...commonShape, ...sandboxShape, DATABASE_URL: DATABASE_URL.optional() })
  const env = parseVariables(
    shape,
    variables,
    strays.map((name) => `${name} is only for MODE=live, and MODE is not set to live`),
  )
  return {
    ...commonOf(env, env.PUBLIC_URL ?? `http://localhost:${env.PORT}`, coins),
    mode: 'sandbox' as const,
    dataDir: env.DATA_DIR,
    offers: env.SANDBOX_OFFERS,
    databaseUrl: env.DATABASE_URL,
  }
}

function liveConfig(variables: Variables) {
  const strays = Object.keys(sandboxShape).filter((name) => name in variables)
  const shape = z.object({ ...commonShape, ...liveShape, PUBLIC_URL: publicUrl })
  const env = parseVariables(shape, variables, [
    ...strays.map((name) => `${name} is only for the sandbox; leave it out with MODE=live`),
    ...needProblems(variables),
    ...walletProblems(variables),
    ...nodeProblems(variables),
    ...supplierProblems(variables),
  ])
  const common = commonOf(env, env.PUBLIC_URL, env.BTCPAY_METHODS?.map(({ coin }) => coin) ?? [])
  const outside = outsideOf(env)
  const site = outside.isRehearsal ? rehearsing(common.site, outside.network) : common.site
  return { ...common, ...outside, site, mode: 'live' as const }
}

function outsideOf(env: LiveEnvironment) {
  const isRehearsal = env.REHEARSAL !== undefined
  return {
    network: networks[env.NETWORK] as Network,
    rpcUrl: env.RPC_URL,
    witnesses: env.RPC_WITNESS_URLS && {
      urls: env.RPC_WITNESS_URLS as readonly string[],
      fromUsdc: env.WITNESS_ABOVE_USDC,
    },
    isRehearsal: isRehearsal as boolean | undefined,
    pollMs: 500,
    /** If the newest block is older than this, the chain or its node has stopped; a development node is often idle. */
    maxHeadSeconds: isRehearsal ? 90 : 30,
    payTo: env.PAY_TO as string,
    gasKey: env.GAS_KEY,
    refundKey: env.REFUND_KEY,
    facilitatorUrl: env.FACILITATOR_URL,
    facilitatorKey:
      env.FACILITATOR_KEY === undefined
        ? undefined
        : ({ secret: env.FACILITATOR_KEY, id: env.FACILITATOR_KEY_ID } as FacilitatorKey),
    facilitatorEveryMs: env.FACILITATOR_EVERY_DAYS && env.FACILITATOR_EVERY_DAYS * 86_400_000,
    walletFactories: env.WALLET_FACTORIES,
    databaseUrl: env.DATABASE_URL,
    suppliers: suppliersOf(env),
    ratesUrl: env.RATES_URL,
    processor: processorOf(env) as ProcessorAccess | undefined,
    secretsKeys: env.SECRETS_KEY as readonly Buffer[],
  }
}

/** The manifest, the pages and the tools show the description. */
function rehearsing(site: Site, network: Network): Site {
  const description = `Rehearsal with test money on ${network.name}: nothing here is for sale. ${site.description}`
  return { ...site, description, isRehearsal: true }
}

type LiveEnvironment = z.infer<z.ZodObject<typeof liveShape>>

function suppliersOf(
  env: Readonly<Record<string, unknown>>,
): Readonly<Partial<Record<SupplierName, SupplierAccess>>> {
  const used = supplierNames.flatMap((name) => {
    const [url, key, header, value] = variablesOf(name).map((variable) => env[variable])
    if (url === undefined || key === undefined) return []
    const webhook = header && value ? { header: String(header), value: String(value) } : undefined
    return [[name, { url: String(url).replace(/\/$/, ''), key: String(key), webhook }]]
  })
  return Object.fromEntries(used)
}

function processorOf(env: LiveEnvironment) {
  const { BTCPAY_URL: url, BTCPAY_STORE_ID: storeId, BTCPAY_API_KEY: apiKey } = env
  const { BTCPAY_METHODS: methods, BTCPAY_WEBHOOK_SECRET: webhookSecret } = env
  if (!url || !storeId || !apiKey || !methods) return undefined
  return {
    url: url.replace(/\/+$/, ''),
    storeId,
    apiKey,
    webhookSecret,
    methods,
    isTestnet: networks[env.NETWORK].isTestnet as boolean,
  }
}

/** A single leaked key must not expose two wallets, nor the one that receives the payments. */
function walletProblems({ PAY_TO, GAS_KEY, REFUND_KEY }: Variables): string[] {
  const [gas, refunds] = [GAS_KEY, REFUND_KEY].map((key) => walletOf(key ?? ''))
  const payTo = PAY_TO?.toLowerCase()
  return [
    ...(gas && gas === refunds
      ? ['GAS_KEY and REFUND_KEY are the same; use two wallets, so that one leak is not both']
      : []),
    ...Object.entries({ GAS_KEY: gas, REFUND_KEY: refunds })
      .filter(([, wallet]) => wallet !== undefined && wallet === payTo)
      .map(([name]) => `PAY_TO is the wallet of ${name}; use one whose key is not on this machine`),
  ]
}

function nodeProblems(variables: Variables): string[] {
  const problems: string[] = []
  if ('REHEARSAL' in variables && realNetworks.some((name) => name === variables['NETWORK'])) {
    problems.push(
      `REHEARSAL is for money that is not real; set NETWORK=${testNetworks.join(' or ')}, or leave it out`,
    )
  }
  const witnesses = listOf(variables['RPC_WITNESS_URLS'] ?? '').map(plainUrl)
  if (variables['RPC_URL'] && witnesses.includes(plainUrl(variables['RPC_URL']))) {
    problems.push('RPC_WITNESS_URLS names RPC_URL itself; a witness must be another node')
  }
  return problems
}

/** Goods that do not exist must not be sold for real money. */
function supplierProblems(variables: Variables): string[] {
  const { NETWORK } = variables
  if (!realNetworks.some((name) => name === NETWORK)) return []
  return supplierNames.flatMap((name) => {
    const { isTest }: SupplierIntegration = suppliers[name]
    const [urlName = '', keyName = ''] = variablesOf(name)
    const access = { url: variables[urlName] ?? '', key: variables[keyName] ?? '' }
    if (!isTest?.(access)) return []
    return [
      `${keyName} or ${urlName} is of the test mode of ${name}, which delivers nothing, and NETWORK=${NETWORK} takes real money; set the production key and address, or NETWORK=${testNetworks.join(' or ')}`,
    ]
  })
}

function parseVariables<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  variables: object,
  problems: readonly string[],
): z.infer<z.ZodObject<Shape>> {
  const parsed = shape.safeParse(variables, { reportInput: true })
  const schemaProblems = parsed.success ? [] : parsed.error.issues.map(problemOf)
  if ('TERMS_URL' in variables && 'TERMS_FILE' in variables) {
    schemaProblems.push('TERMS_URL and TERMS_FILE both name the terms; set one of them')
  }
  if (!parsed.success || schemaProblems.length + problems.length > 0)
    throw new ConfigError([...schemaProblems, ...problems])
  return parsed.data
}

function commonOf(
  env: z.infer<z.ZodObject<typeof commonShape>>,
  publicUrl: string,
  crypto: readonly string[],
) {
  const url = publicUrl.replace(/\/+$/, '')
  return {
    host: env.HOST,
    port: env.PORT,
    redisUrl: env.REDIS_URL,
    site: {
      name: env.STORE_NAME,
      description: env.STORE_DESCRIPTION,
      url,
      logo: env.STORE_LOGO ?? `${url}/logo.svg`,
      color: env.STORE_COLOR,
      terms: env.TERMS_FILE
        ? { text: env.TERMS_FILE }
        : env.TERMS_URL
          ? { url: env.TERMS_URL }
          : undefined,
      contact: env.STORE_CONTACT,
      acceptsCrypto: crypto,
    } as Site,
    policy: {
      deliverWithinMs: env.FULFILLMENT_DEADLINE_SECONDS * 1_000,
      refundGraceMs: env.REFUND_GRACE_SECONDS * 1_000,
      patienceMs: env.PURCHASE_WAIT_SECONDS * 1_000,
    },
    invoiceMinutes: env.INVOICE_MINUTES,
    markupBps: env.MARKUP_BPS,
    maxSettlementWei: BigInt(env.MAX_SETTLEMENT_GWEI) * 1_000_000_000n,
    personalDataDays: env.PERSONAL_DATA_DAYS,
    limitsCoolingMs: env.LIMITS_COOLING_HOURS * 3_600_000,
    refundCaps: {
      hour: wholeUsdc(env.REFUND_HOURLY_CAP_USDC),
      day: wholeUsdc(env.REFUND_DAILY_CAP_USDC),
    },
    budgets: {
      unpaid_payments: env.UNPAID_PAYMENTS_PER_HOUR,
      failed_orders: env.FAILED_ORDERS_PER_HOUR,
    },
    trustProxy: (env.TRUSTED_PROXIES ?? false) as TrustedProxies | false,
    metricsToken: env.METRICS_TOKEN,
    mail: env.SMTP_URL
      ? { url: env.SMTP_URL, from: env.SMTP_FROM ?? env.STORE_CONTACT }
      : undefined,
    alerts: { mail: env.ALERT_MAIL, webhook: alertWebhookOf(env) },
    drainMs: env.DRAIN_SECONDS * 1_000,
    logLevel: env.LOG_LEVEL,
    shared: sharedOf(env),
    settings: settingsOf(env),
  }
}

function alertWebhookOf(env: z.infer<z.ZodObject<typeof commonShape>>) {
  const { ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret } = env
  return url && secret ? { url, secret } : undefined
}

const wholeUsdc = (whole: number) => usdc(BigInt(whole) * 1_000_000n)

import { readFileSync } from 'node:fs'
import { isAddress } from 'viem'
import * as z from 'zod'
import { readMethods } from './adapters/btcpay/methods.ts'
import { trustedProxiesIn } from './http/trusted-proxies.ts'

/** A whole number within a range, which its refusal names. */
function wholeWithin(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`
  return z.coerce.number(message).int(message).min(least, message).max(most, message)
}

const whole = (fallback: number, least: number, most: number) =>
  wholeWithin(least, most).default(fallback)

export const url = (protocol: RegExp) => z.url({ protocol, error: 'must be a URL' })
/** The tables let nothing go that ended less than 90 days ago; three months may be 89. */
export const fewestArchiveMonths = 4
const address = z
  .string()
  .refine(
    (text) => isAddress(text),
    'must be an address: 0x and 40 hexadecimal digits, in lower case or with a right checksum',
  )
const privateKey = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a private key: 0x and 64 hexadecimal digits')
  .transform((key) => key.toLowerCase() as `0x${string}`)
const list = z.string().transform(listOf)

/** The parts of a list that is separated by commas. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

/** What a file says; nothing where it cannot be read, whatever the reason. */
function textOfFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** The variables of both modes (docs/configuration.md). */
export const commonShape = {
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(8402, 1, 65_535),
  WORKERS: whole(1, 1, 64),
  REDIS_URL: url(/^rediss?$/).optional(),
  PUBLIC_URL: url(/^https?$/).optional(),
  STORE_NAME: z.string().min(1).max(80).default('Kiosk402'),
  STORE_DESCRIPTION: z
    .string()
    .min(1)
    .max(400)
    .default(
      'Gift cards, mobile topups and eSIM data plans, paid per purchase, delivered at once.',
    ),
  STORE_LOGO: url(/^https?$/).optional(),
  STORE_COLOR: z
    .string()
    .regex(/^#?[0-9a-fA-F]{6}$/, 'must be a colour of six hexadecimal digits, such as 0b5d40')
    // In a file of variables, what stands behind a # that is not quoted is a comment.
    .transform((color) => `#${color.replace('#', '').toLowerCase()}`)
    .optional(),
  STORE_CONTACT: z.email('must be an e-mail address').default('store@example.com'),
  TERMS_URL: url(/^https?$/).optional(),
  TERMS_FILE: z
    .string()
    .transform(textOfFile)
    .refine((text) => text !== '', 'must name a text file that can be read and is not empty')
    .optional(),
  INVOICE_MINUTES: whole(30, 5, 1_440),
  MARKUP_BPS: whole(0, 0, 10_000),
  MAX_SETTLEMENT_GWEI: whole(1_000_000, 1, 1_000_000_000),
  FULFILLMENT_DEADLINE_SECONDS: whole(600, 1, 3_600),
  REFUND_GRACE_SECONDS: whole(6 * 3_600, 1, 20 * 3_600),
  PURCHASE_WAIT_SECONDS: whole(20, 1, 25),
  PERSONAL_DATA_DAYS: whole(30, 0, 3_650),
  ARCHIVE_AFTER_MONTHS: whole(13, fewestArchiveMonths, 240),
  LIMITS_COOLING_HOURS: whole(24, 0, 720),
  REFUND_HOURLY_CAP_USDC: whole(1_000, 1, 1_000_000),
  REFUND_DAILY_CAP_USDC: whole(5_000, 1, 10_000_000),
  UNPAID_PAYMENTS_PER_HOUR: whole(5, 1, 1_000_000),
  FAILED_ORDERS_PER_HOUR: whole(5, 1, 1_000_000),
  TRUSTED_PROXIES: z
    .string()
    .transform(trustedProxiesIn)
    .refine((read) => read !== undefined, 'must be a number of hops or a list of addresses')
    .optional(),
  SMTP_URL: url(/^smtps?$/).optional(),
  SMTP_FROM: z.email('must be an e-mail address').optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  DRAIN_SECONDS: whole(0, 0, 60),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
}

/** The variables that only the sandbox knows. */
export const sandboxShape = {
  DATA_DIR: z.string().min(1).default('./data'),
  SANDBOX_OFFERS: whole(12_000, 100, 200_000),
}

const vaultKey =
  'must be 32 random bytes in base64 (make one with: openssl rand -base64 32); older ones follow after commas'

/** The variables that only live mode knows, but for DATABASE_URL. */
export const liveShape = {
  NETWORK: z.enum(['base', 'base-sepolia'], 'must be base or base-sepolia'),
  REHEARSAL: z.literal('1', 'must be 1, or left out').optional(),
  RPC_URL: url(/^https?$/),
  RPC_WITNESS_URLS: list
    .pipe(z.array(url(/^https?$/)))
    .refine((urls) => new Set(urls).size === urls.length, 'must not name a node twice')
    .optional(),
  WITNESS_ABOVE_USDC: whole(100, 0, 1_000_000),
  PAY_TO: address,
  GAS_KEY: privateKey,
  REFUND_KEY: privateKey,
  DATABASE_URL: url(/^postgres(ql)?$/),
  SUPPLIER_URL: url(/^https?$/),
  SUPPLIER_KEY: z.string('must be the API key of the supplier').min(8),
  SECRETS_KEY: z
    .string(vaultKey)
    .transform((text) => text.split(',').map((part) => Buffer.from(part.trim(), 'base64')))
    .refine((keys) => keys.every((key) => key.length === 32), vaultKey),
  SECRETS_KEY_LOST: list
    .refine(
      (ids) => ids.every((id) => /^[0-9a-f]{12}$/.test(id)),
      'must be the ids of lost keys, as the refusal of a start names them',
    )
    .default([]),
  FACILITATOR_URL: url(/^https?$/).optional(),
  FACILITATOR_KEY: z
    .string()
    .min(16, 'must have at least 16 characters')
    // One line of a file of variables holds the lines of a PEM key this way.
    .transform((key) => key.replaceAll('\\n', '\n'))
    .optional(),
  FACILITATOR_KEY_ID: z.string().max(400, 'must have at most 400 characters').optional(),
  FACILITATOR_EVERY_DAYS: wholeWithin(1, 29).optional(),
  WALLET_FACTORIES: list.pipe(z.array(address)).default([]),
  SUPPLIER_WEBHOOK_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
    .optional(),
  SUPPLIER_WEBHOOK_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  RATES_URL: url(/^https?$/).default('https://api.frankfurter.dev/v1/latest'),
  BTCPAY_URL: url(/^https?$/).optional(),
  BTCPAY_STORE_ID: z
    .string()
    .regex(/^[A-Za-z0-9]{8,100}$/, 'must be the id of a store at BTCPay')
    .optional(),
  BTCPAY_API_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  BTCPAY_METHODS: z.string().transform(coinMethods).optional(),
  BTCPAY_WEBHOOK_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
}

/** The coins that can be paid in; the reader of them says what is wrong. */
function coinMethods(text: string, context: z.RefinementCtx): ReturnType<typeof readMethods> {
  try {
    return readMethods(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' })
    return z.NEVER
  }
}

/** What to set each variable to that live mode cannot do without. */
const wanted: Readonly<Record<string, string>> = {
  NETWORK: 'base or base-sepolia',
  RPC_URL: 'the URL of a node of that network',
  PAY_TO: 'the address that buyers pay; its key stays off this machine',
  GAS_KEY: 'the private key of a wallet that holds a little ETH for gas',
  REFUND_KEY: 'the private key of a wallet that holds the USDC float for refunds',
  DATABASE_URL: 'the URL of a PostgreSQL database: postgres://user:password@host/name',
  SUPPLIER_URL: 'the URL of the supplier’s API, such as https://api.zendit.io/v1',
  SUPPLIER_KEY: 'the API key of the supplier',
  SECRETS_KEY: '32 random bytes in base64 (openssl rand -base64 32)',
  PUBLIC_URL: 'the URL at which buyers reach this store',
}

/** Names the variable and what to set. Never the value: it may be a key. */
export function problemOf(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0] ?? 'environment')
  return issue.input === undefined && wanted[name]
    ? `${name} is missing; set it to ${wanted[name]}`
    : `${name} ${issue.message}`
}

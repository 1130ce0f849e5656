import { z } from 'zod'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import type { Coin } from '../../payments/coins.ts'
import {
  apiKeySchema,
  callGreenfield,
  describe,
  type Greenfield,
  isKeyRefused,
  listedInvoiceSchema,
  payoutProcessorSchema,
  readOfStore,
  serverSchema,
  storeMethodSchema,
  storeSchema,
  webhookSchema,
} from './greenfield.ts'

export interface Finding {
  /** `fault`: people cannot pay in some coin, or no money goes back. `notice`: by hand or later. */
  readonly level: 'fault' | 'notice'
  readonly text: string
}

export interface CheckResult {
  readonly findings: readonly Finding[]
  readonly sent: readonly Coin[] | undefined
}

export async function checkProcessor(
  greenfield: Greenfield,
  methods: readonly BtcpayMethod[],
  now: Date,
): Promise<CheckResult> {
  const [sent, ...findings] = await Promise.all([
    coinsSent(greenfield, methods),
    checkMethods(greenfield, methods),
    checkKey(greenfield),
    checkWebhooks(greenfield),
    checkVersion(greenfield),
    checkFees(greenfield),
    checkClock(greenfield, now),
  ])
  return { sent, findings: [...findings.flat(), ...checkPayouts(methods, sent)] }
}

async function checkMethods(greenfield: Greenfield, methods: readonly BtcpayMethod[]) {
  const response = await readOfStore(greenfield, z.array(storeMethodSchema), '/payment-methods')
  if (response.outcome === 'unknown') return [fault(`${response.reason}.`)]
  if (response.outcome === 'refused') {
    if (response.status === 401) return [fault('BTCPay refuses the API key.')]
    return isKeyRefused(response)
      ? [
          fault(
            'BTCPay does not let the API key see the store (btcpay.store.canviewstoresettings).',
          ),
        ]
      : [fault(`BTCPay does not know the store: ${describe(response)}.`)]
  }
  return methods.flatMap(({ coin, id }) => {
    const method = response.value.find((one) => one.paymentMethodId === id)
    if (method === undefined) return [fault(unknownMethod(coin, id, response.value))]
    return method.enabled ? [] : [fault(`The payment method ${id} for ${coin} is not enabled.`)]
  })
}

/** BTCPay takes `USDT-tron` and `USDT-TRON` for two methods. */
function unknownMethod(
  coin: Coin,
  id: string,
  listed: readonly { readonly paymentMethodId: string }[],
): string {
  const other = listed.find((one) => one.paymentMethodId.toUpperCase() === id.toUpperCase())
  return other === undefined
    ? `BTCPay has no payment method ${id} for ${coin}.`
    : `BTCPay writes the payment method ${id} as ${other.paymentMethodId}: write it so in BTCPAY_METHODS.`
}

async function checkKey(greenfield: Greenfield) {
  const path = '/api-keys/current'
  const response = await callGreenfield(greenfield, apiKeySchema, { method: 'GET', path })
  if (response.outcome !== 'ok') return []
  const missing = permissionsMissing(response.value.permissions, greenfield.storeId)
  return missing.length === 0 ? [] : [fault(`The API key of BTCPay lacks ${missing.join(', ')}.`)]
}

/** BTCPay lists those whose payouts it can handle. Monero is left out: the store asks for no payout in it. */
async function coinsSent(greenfield: Greenfield, methods: readonly BtcpayMethod[]) {
  const response = await readOfStore(
    greenfield,
    z.array(payoutProcessorSchema),
    '/payout-processors',
  )
  if (response.outcome !== 'ok') return undefined
  const automatic = response.value.flatMap(({ payoutMethods }) => payoutMethods ?? [])
  const sent = methods.filter(({ coin, id }) => coin !== 'XMR' && automatic.includes(id))
  return sent.map(({ coin }) => coin)
}

function checkPayouts(methods: readonly BtcpayMethod[], sent: CheckResult['sent']) {
  if (sent === undefined) return []
  const byHand = methods.filter(({ coin }) => !sent.includes(coin))
  const names = byHand.map(({ coin }) => coin).join(', ')
  return names === '' ? [] : [notice(`Money in ${names} goes back only when somebody sends it.`)]
}

/** Only a key that may change webhooks can list them; without that permission nothing is reported. */
async function checkWebhooks(greenfield: Greenfield) {
  const response = await readOfStore(greenfield, z.array(webhookSchema), '/webhooks')
  if (response.outcome !== 'ok') return []
  const isThere = response.value.some(
    ({ enabled, url }) => enabled && url.endsWith('/webhooks/btcpay'),
  )
  return isThere
    ? []
    : [notice('BTCPay has no enabled webhook to /webhooks/btcpay: payments are seen later.')]
}

const oldest = '2.4.0'

/** Older releases lack calls and behave otherwise; the store is tested with the answers of 2.4.1. */
async function checkVersion(greenfield: Greenfield) {
  const path = '/server/info'
  const response = await callGreenfield(greenfield, serverSchema, { method: 'GET', path })
  if (response.outcome !== 'ok') return []
  const { version } = response.value
  const isOlder = version.localeCompare(oldest, 'en', { numeric: true }) < 0
  return isOlder ? [notice(`BTCPay ${version} is older than ${oldest}: update it.`)] : []
}

async function checkFees(greenfield: Greenfield) {
  const response = await readOfStore(greenfield, storeSchema, '')
  const mode = response.outcome === 'ok' ? response.value.networkFeeMode : undefined
  if (!mode || mode === 'Never') return []
  const who = mode === 'Always' ? 'everybody' : 'who pays in parts'
  const setting = 'Add additional fee to invoice for network cost'
  return [
    notice(
      `BTCPay asks ${who} for a network fee on top (networkFeeMode ${mode}). Set "${setting}" to never.`,
    ),
  ]
}

/** Less than the smallest step between time zones, and more than clocks should differ. */
const clockSlack = 600

/**
 * BTCPay reads the time of a payment as one in its host's time zone: the Unix time that it then tells is off by the zone
 * (btcpayserver/btcpayserver issue 6756). Times of invoices are right, and no payment is older than its invoice.
 */
async function checkClock(greenfield: Greenfield, now: Date) {
  const path = '/invoices?status=Settled&take=10&includePaymentMethods=true'
  const response = await readOfStore(greenfield, z.array(listedInvoiceSchema), path)
  if (response.outcome !== 'ok') return []
  const latest = now.getTime() / 1_000 + clockSlack
  const strange = response.value.find(({ createdTime, paymentMethods }) =>
    (paymentMethods ?? [])
      .flatMap(({ payments }) => payments ?? [])
      .some(({ receivedDate: at }) => at < createdTime - clockSlack || at > latest),
  )
  if (strange === undefined) return []
  return [
    fault(
      `BTCPay's host does not run in UTC: it dates payments of invoice ${strange.id} before the invoice or in the future. Set its time zone to UTC.`,
    ),
  ]
}

function fault(text: string): Finding {
  return { level: 'fault', text }
}

function notice(text: string): Finding {
  return { level: 'notice', text }
}

const needed = [
  'canviewinvoices',
  'cancreateinvoice',
  'canmodifyinvoices',
  'cancreatepullpayments',
  'canviewpullpayments',
  'canviewstoresettings',
] as const

const includes: Readonly<Record<string, readonly string[]>> = {
  canmodifystoresettings: ['canviewstoresettings', 'canmodifyinvoices', 'canmanagepullpayments'],
  canviewstoresettings: ['canviewinvoices', 'canviewpullpayments'],
  canmodifyinvoices: ['canviewinvoices', 'cancreateinvoice'],
  canmanagepullpayments: ['cancreatepullpayments', 'canviewpullpayments'],
  cancreatepullpayments: ['canviewpullpayments'],
}

/** @param granted "btcpay.store.canviewinvoices" for all stores, or with ":{storeId}" for one */
export function permissionsMissing(granted: readonly string[], storeId: string): readonly string[] {
  if (granted.includes('unrestricted')) return []
  const here = granted.flatMap((one) => {
    const [, name, store = storeId] = /^btcpay\.store\.(\w+)(?::(.+))?$/.exec(one) ?? []
    return name !== undefined && store === storeId ? [name] : []
  })
  const all = new Set(here)
  // A set may grow during iteration; what is added is visited too.
  for (const name of all) for (const further of includes[name] ?? []) all.add(further)
  return needed.filter((name) => !all.has(name)).map((name) => `btcpay.store.${name}`)
}

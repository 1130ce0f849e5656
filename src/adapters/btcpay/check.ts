import { z } from 'zod'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import type { Coin } from '../../payments/coins.ts'
import {
  apiKeySchema,
  callGreenfield,
  describe,
  type Greenfield,
  isKeyRefused,
  payoutProcessorSchema,
  segment,
  storeMethodSchema,
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
): Promise<CheckResult> {
  const [sent, ...findings] = await Promise.all([
    coinsSent(greenfield, methods),
    checkMethods(greenfield, methods),
    checkKey(greenfield),
    checkWebhooks(greenfield),
  ])
  return { sent, findings: [...findings.flat(), ...checkPayouts(methods, sent)] }
}

async function checkMethods(greenfield: Greenfield, methods: readonly BtcpayMethod[]) {
  const path = `/stores/${segment(greenfield.storeId)}/payment-methods`
  const response = await callGreenfield(greenfield, z.array(storeMethodSchema), {
    method: 'GET',
    path,
  })
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
    const method = response.value.find(
      (one) => one.paymentMethodId.toUpperCase() === id.toUpperCase(),
    )
    if (method === undefined) return [fault(`BTCPay has no payment method ${id} for ${coin}.`)]
    return method.enabled ? [] : [fault(`The payment method ${id} for ${coin} is not enabled.`)]
  })
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
  const path = `/stores/${segment(greenfield.storeId)}/payout-processors`
  const response = await callGreenfield(greenfield, z.array(payoutProcessorSchema), {
    method: 'GET',
    path,
  })
  if (response.outcome !== 'ok') return undefined
  const automatic = response.value.flatMap(({ payoutMethods }) => payoutMethods ?? [])
  const automaticIds = automatic.map((id) => id.toUpperCase())
  const sent = methods.filter(
    ({ coin, id }) => coin !== 'XMR' && automaticIds.includes(id.toUpperCase()),
  )
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
  const path = `/stores/${segment(greenfield.storeId)}/webhooks`
  const response = await callGreenfield(greenfield, z.array(webhookSchema), { method: 'GET', path })
  if (response.outcome !== 'ok') return []
  const isThere = response.value.some(
    ({ enabled, url }) => enabled && url.endsWith('/webhooks/btcpay'),
  )
  return isThere
    ? []
    : [notice('BTCPay has no enabled webhook to /webhooks/btcpay: payments are seen later.')]
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
  'canarchivepullpayments',
  'canviewpullpayments',
  'canviewstoresettings',
] as const

const includes: Readonly<Record<string, readonly string[]>> = {
  canmodifystoresettings: ['canviewstoresettings', 'canmodifyinvoices', 'canmanagepullpayments'],
  canviewstoresettings: ['canviewinvoices', 'canviewpullpayments'],
  canmodifyinvoices: ['canviewinvoices', 'cancreateinvoice'],
  canmanagepullpayments: ['cancreatepullpayments', 'canarchivepullpayments', 'canviewpullpayments'],
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

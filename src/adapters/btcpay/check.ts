import { z } from 'zod'
import { ask, type Greenfield, isKeyRefused, saidOf, segment } from './greenfield.ts'
import type { BtcpayMethod } from './methods.ts'
import { permissionsMissing } from './permissions.ts'
import { apiKeySchema, payoutProcessorSchema, storeMethodSchema, webhookSchema } from './schemas.ts'

/** Something at BTCPay that an operator should know of, in a sentence. */
export interface Finding {
  /** `fault`: people cannot pay in some coin, or no money goes back. `notice`: it works, by hand. */
  readonly level: 'fault' | 'notice'
  readonly text: string
}

/** Looks whether BTCPay can do what the store will ask of it. Nothing is found when all is well. */
export async function checkProcessor(
  greenfield: Greenfield,
  methods: readonly BtcpayMethod[],
): Promise<readonly Finding[]> {
  const found = await Promise.all([
    checkMethods(greenfield, methods),
    checkKey(greenfield),
    checkPayouts(greenfield, methods),
    checkWebhooks(greenfield),
  ])
  return found.flat()
}

async function checkMethods(greenfield: Greenfield, methods: readonly BtcpayMethod[]) {
  const path = `/stores/${segment(greenfield.storeId)}/payment-methods`
  const heard = await ask(greenfield, z.array(storeMethodSchema), { method: 'GET', path })
  if (heard.outcome === 'unknown') return [fault(`${heard.reason}.`)]
  if (heard.outcome === 'refused') {
    if (heard.status === 401) return [fault('BTCPay refuses the API key.')]
    return isKeyRefused(heard)
      ? [
          fault(
            'BTCPay does not let the API key see the store (btcpay.store.canviewstoresettings).',
          ),
        ]
      : [fault(`BTCPay does not know the store: ${saidOf(heard)}.`)]
  }
  return methods.flatMap(({ coin, id }) => {
    const found = heard.value.find((one) => one.paymentMethodId.toUpperCase() === id.toUpperCase())
    if (found === undefined) return [fault(`BTCPay has no payment method ${id} for ${coin}.`)]
    return found.enabled ? [] : [fault(`The payment method ${id} for ${coin} is not enabled.`)]
  })
}

/** A key that may not say what it may is no fault: each call will tell. */
async function checkKey(greenfield: Greenfield) {
  const path = '/api-keys/current'
  const heard = await ask(greenfield, apiKeySchema, { method: 'GET', path })
  if (heard.outcome !== 'ok') return []
  const missing = permissionsMissing(heard.value.permissions, greenfield.storeId)
  return missing.length === 0 ? [] : [fault(`The API key of BTCPay lacks ${missing.join(', ')}.`)]
}

async function checkPayouts(greenfield: Greenfield, methods: readonly BtcpayMethod[]) {
  const path = `/stores/${segment(greenfield.storeId)}/payout-processors`
  const heard = await ask(greenfield, z.array(payoutProcessorSchema), { method: 'GET', path })
  if (heard.outcome !== 'ok') return []
  const automatic = heard.value.flatMap(({ payoutMethods }) => payoutMethods ?? [])
  const known = automatic.map((id) => id.toUpperCase())
  const byHand = methods.filter(({ id }) => !known.includes(id.toUpperCase()))
  const names = byHand.map(({ coin }) => coin).join(', ')
  return names === '' ? [] : [notice(`Money in ${names} goes back only when somebody sends it.`)]
}

/** Only a key that may change webhooks may see them; without that permission nothing is known. */
async function checkWebhooks(greenfield: Greenfield) {
  const path = `/stores/${segment(greenfield.storeId)}/webhooks`
  const heard = await ask(greenfield, z.array(webhookSchema), { method: 'GET', path })
  if (heard.outcome !== 'ok') return []
  const isThere = heard.value.some(
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

import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import type { Kind } from '../../goods/offer.ts'
import { kindSchemaFor } from '../../goods/purchase-body.ts'
import type { Terms } from '../../payments/x402.ts'
import type { Site } from '../site.ts'

/** Stock clients refuse more than this until they are told otherwise, and say so nowhere. */
const stockSpendLimitAtomic = 1_000_000n

/** How a door names what is paid for, and where it takes the payment. */
export interface PaymentDoor {
  /** The address of what is paid for, as the transport of x402 names it. */
  readonly resource: (site: Site, kind: Kind) => string
  /** How a signed payment is sent: "send the same request with it in PAYMENT-SIGNATURE". */
  readonly howToSend: string
}

export interface Demand {
  readonly kind: Kind
  readonly terms: Terms
  /** Why payment is asked for, or asked for again. */
  readonly error: string
  readonly code?: string
  readonly description: string
  /** An indexer's empty call gets the description of the route; a purchase stays short. */
  readonly describe: boolean
}

/** A demand as x402 has it, and what the store says beside it. */
export interface Demanded {
  readonly required: PaymentRequired
  readonly more: {
    /** Why the payment that was sent was not taken. */
    readonly code?: string
    readonly charged: 'no'
    /** A sentence that a person or a model can act on. */
    readonly message: string
  }
}

/** The demand for a payment. */
export function paymentRequired(site: Site, door: PaymentDoor, demand: Demand): Demanded {
  const { kind, terms, error, code, description, describe } = demand
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: {
      url: door.resource(site, kind),
      description,
      mimeType: 'application/json',
      serviceName: site.name.slice(0, 32),
    },
    accepts: [terms as PaymentRequirements],
    extensions: {
      'payment-identifier': declarePaymentIdentifierExtension(false),
      ...(describe ? bazaarOf(kind) : {}),
    },
  }
  const message = guidance(door, terms, error)
  return { required, more: { ...(code === undefined ? {} : { code }), charged: 'no', message } }
}

function guidance({ howToSend }: PaymentDoor, terms: Terms, error: string): string {
  const dollars = (Number(terms.amount) / 1_000_000).toFixed(2)
  const how = `Sign the x402 payment in accepts[0] (${dollars} USDC, scheme exact) and ${howToSend}.`
  const limit =
    BigInt(terms.amount) > stockSpendLimitAtomic
      ? ' Stock x402 clients refuse payments over 1 USD until their own spend limit is raised.'
      : ''
  return `${error.replace(/\.$/, '')}. ${how}${limit}`
}

function bazaarOf(kind: Kind): Record<string, unknown> {
  const declared = declareDiscoveryExtension({
    bodyType: 'json',
    input: exampleInput[kind],
    inputSchema: kindSchemaFor(kind),
    output: { example: { orderId: 'ord_…', orders: [{ state: 'FULFILLED', result: {} }] } },
  })
  const { bazaar } = declared as unknown as { bazaar: { info: { input: object } } }
  return {
    bazaar: {
      ...bazaar,
      info: { ...bazaar.info, input: { method: 'POST', ...bazaar.info.input } },
    },
  }
}

const exampleInput: Readonly<Record<Kind, Record<string, string>>> = {
  voucher: { offerId: 'AMAZON_US_25_EGIFT', firstName: 'Ada', lastName: 'Lovelace' },
  topup: { offerId: 'CLARO_GT_OPEN', msisdn: '+50255551234' },
  esim: { offerId: 'ESIM-US-7D-1GB' },
}

import { Refusal } from '../../lib/refusal.ts'
import type { PurchaseDeps } from '../../orders/purchase.ts'
import { type Envelope, hashOf } from '../../secrets/secrets.ts'
import type { Site } from '../operation.ts'

export const payablePath = '/x402'

/** Characters. Some proxies and hosts cut off addresses above 2,000, and the 402 repeats it in a header. */
const maxUrl = 1_200

/** Not yet stored: everything is in the address, so a quote that nobody pays costs nothing. */
interface Sealed {
  readonly fields: Readonly<Record<string, unknown>>
  readonly promise: string
}

export interface PayableDeps {
  readonly site: Pick<Site, 'url'>
  readonly envelope: Envelope
}

/** Undefined if the fields make it longer than proxies take. */
export function payableUrl(
  { site, envelope }: PayableDeps,
  { fields, promise }: Sealed,
): string | undefined {
  const url = `${site.url}${payablePath}/${envelope.seal([fields, promise])}`
  return url.length <= maxUrl ? url : undefined
}

/** @throws Refusal `not_found` if this store never gave such an address */
export function openPayable(
  { site, envelope }: PayableDeps,
  { quotes }: Pick<PurchaseDeps, 'quotes'>,
  sealed: string,
) {
  const content = envelope.open(sealed)
  if (content === undefined) {
    const message =
      'No purchase has this address: it was cut off or changed. Copy it whole, or ask for a new quote.'
    throw new Refusal('not_found', message, { charged: 'no' })
  }
  const [fields, promise] = content as [Record<string, unknown>, string]
  const message = 'The quote of this address has ended. Ask for a new one.'
  return {
    url: `${site.url}${payablePath}/${sealed}`,
    fields,
    sealed: { address: hashOf(`${payablePath}/${sealed}`), promise },
    /** Set once its quote has ended: then it may only find the order of a payment that was sent before. */
    ended: quotes.secondsLeft(promise) > 0 ? undefined : new Refusal('quote_expired', message),
  }
}

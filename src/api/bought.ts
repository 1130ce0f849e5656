import { type FaceValue, faceValueFor } from '../catalog/face-value.ts'
import type { Recipient } from '../catalog/good.ts'
import type { Kind } from '../catalog/offer.ts'
import { type DescribedOffer, worthOf } from '../catalog/offer-details.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Item } from '../orders/order.ts'
import type { Sealed, Vault } from '../secrets/secrets.ts'

/** What a buyer buys: the product, the country, the phone number and the value. Shown only to the buyer. */
export interface Bought {
  readonly kind: Kind
  readonly brandName: string
  /** The card or plan, as it was shown to the buyer; absent if it was not recorded. */
  readonly offer?: DescribedOffer | undefined
  /** When a plan is slowed down, in the supplier's words. */
  readonly fairUse?: string | undefined
  readonly country?: string | undefined
  /** The chosen value of an open-value offer, in the minor units of the offer's price. */
  readonly value?: number | undefined
  /** What the card or the line receives. */
  readonly receives?: FaceValue | undefined
  /** The number that is topped up, in E.164 form; absent once it was erased. */
  readonly phone?: string | undefined
}

export interface BoughtDeps {
  readonly vault: Vault
}

/** The item and the recipient of an order, or of a checkout that is not an order yet. */
interface OrderedItem {
  readonly orderId: OrderId
  readonly item: Item
  readonly recipient: Sealed | undefined
}

export function boughtOf({ vault }: BoughtDeps, asked: OrderedItem): Bought {
  const { kind, brandName, country, value, shown } = asked.item
  const offer = shown && { kind, ...(country === undefined ? {} : { country }), ...shown }
  const recipient = recipientOf(vault, asked)
  return {
    kind,
    brandName,
    offer,
    country,
    fairUse: shown?.fairUse,
    value,
    receives: offer && faceValueFor(worthOf(offer), value),
    phone: recipient && 'msisdn' in recipient ? recipient.msisdn : undefined,
  }
}

/** The recipient; undefined once the personal fields were erased. */
export function recipientOf(
  vault: Vault,
  { orderId, recipient }: OrderedItem,
): Recipient | undefined {
  if (recipient === undefined) return undefined
  return vault.open(recipient, { order: orderId, field: 'recipient' }) as Recipient
}

import { type FaceValue, faceValueFor } from '../catalog/face-value.ts'
import type { Recipient } from '../catalog/good.ts'
import type { Kind } from '../catalog/offer.ts'
import { type DescribedOffer, worthOf } from '../catalog/offer-details.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Item } from '../orders/order.ts'
import type { Sealed, Vault } from '../secrets/vault.ts'

/** What a buyer buys: the product, the country, the phone number and the value. Shown only to the buyer. */
export interface Bought {
  readonly kind: Kind
  readonly brandName: string
  /** The card or plan, as it was shown to the buyer; absent if it was not recorded. */
  readonly offer?: DescribedOffer
  /** When a plan is slowed down, in the supplier's words. */
  readonly fairUse?: string
  readonly country?: string
  /** The chosen value of an open-value offer, in the minor units of the offer's price. */
  readonly value?: number
  /** What the card or the line receives. */
  readonly receives?: FaceValue
  /** The number that is topped up, in E.164 form; absent once it was erased. */
  readonly phone?: string
}

export interface BoughtDeps {
  readonly vault: Vault
}

/** The item and the recipient of an order, or of a checkout that is not an order yet. */
export interface OrderedItem {
  readonly orderId: OrderId
  readonly item: Item
  readonly recipient: Sealed | undefined
}

export function boughtOf({ vault }: BoughtDeps, asked: OrderedItem): Bought {
  const { kind, brandName, country, value, shown } = asked.item
  const place = country === undefined ? {} : { country }
  const offer = shown && { kind, ...place, ...shown }
  const receives = offer && faceValueFor(worthOf(offer), value)
  const recipient = recipientOf(vault, asked)
  return {
    kind,
    brandName,
    ...(offer === undefined ? {} : { offer }),
    ...place,
    ...(shown?.fairUse === undefined ? {} : { fairUse: shown.fairUse }),
    ...(value === undefined ? {} : { value }),
    ...(receives === undefined ? {} : { receives }),
    ...(recipient && 'msisdn' in recipient ? { phone: recipient.msisdn } : {}),
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

import { type FaceValue, faceValueFor } from '../catalog/face-value.ts'
import type { Recipient } from '../catalog/good.ts'
import type { Kind } from '../catalog/offer.ts'
import { type DescribedOffer, worthOf } from '../catalog/offer-details.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Item } from '../orders/order.ts'
import type { Sealed, Vault } from '../secrets/vault.ts'

/** What somebody buys, told to nobody else: what it is, where, for which number and for how much. */
export interface Bought {
  readonly kind: Kind
  readonly brandName: string
  /** Which of its cards or plans it is, as it was shown; absent where that is not on record. */
  readonly offer?: DescribedOffer
  /** When a plan becomes slow, in the supplier's words. */
  readonly fairUse?: string
  readonly country?: string
  /** What was chosen of an open value, in the minor units of the offer's price. */
  readonly value?: number
  /** What the card or the line receives. */
  readonly receives?: FaceValue
  /** The number that is topped up, in E.164 form; absent once it was erased. */
  readonly phone?: string
}

export interface BoughtDeps {
  readonly vault: Vault
}

/** What was asked for under this order, whether it is one yet or still a checkout. */
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

/** Who it is for; undefined once the personal fields were erased. */
export function recipientOf(
  vault: Vault,
  { orderId, recipient }: OrderedItem,
): Recipient | undefined {
  if (recipient === undefined) return undefined
  return vault.open(recipient, { order: orderId, field: 'recipient' }) as Recipient
}

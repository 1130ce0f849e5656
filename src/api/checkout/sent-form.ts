import type { Checkout } from '../../checkouts/checkout.ts'
import { type BoughtDeps, recipientOf } from '../bought.ts'
import type { SentForm } from './service.ts'

/** What was typed to start a checkout, to be changed and sent anew; undefined once it was erased. */
export function sentForm({ vault }: BoughtDeps, checkout: Checkout): SentForm | undefined {
  const { item, coin, refundTo } = checkout
  const recipient = recipientOf(vault, checkout)
  if (recipient === undefined) return undefined
  const { kind: _, ...told } = recipient
  const divisor = item.shown?.price.divisor
  const isChosen = item.value !== undefined && divisor !== undefined
  const fields = {
    ...(isChosen ? { value: String(item.value / divisor) } : {}),
    ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)),
  }
  return { offerId: item.offerId, fields, coin, refundTo }
}

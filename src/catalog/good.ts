import * as z from 'zod'
import { type EsimRecipient, esim } from './esim.ts'
import type { Kind } from './offer.ts'
import { type TopupRecipient, topup } from './topup.ts'
import { type VoucherRecipient, voucher } from './voucher.ts'

/** Every kind of good the store sells. A new kind is one new file and one new line here. */
export const goods = { voucher, topup, esim } as const satisfies Record<Kind, { kind: Kind }>

export const kinds = ['voucher', 'topup', 'esim'] as const satisfies readonly Kind[]

/** What the buyer told about who receives the good. */
export type Recipient =
  | ({ readonly kind: 'voucher' } & VoucherRecipient)
  | ({ readonly kind: 'topup' } & TopupRecipient)
  | ({ readonly kind: 'esim' } & EsimRecipient)

/** What the buyer receives. Secret until it is shown to its buyer. */
export const Delivery = z.discriminatedUnion('kind', [
  voucher.delivery,
  topup.delivery,
  esim.delivery,
])
export type Delivery = z.infer<typeof Delivery>

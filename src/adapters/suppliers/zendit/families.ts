import type { Kind } from '../../../goods/offer.ts'

/** Where each kind lives in the supplier's paths. Note the singular of eSIM (suppliers A.2). */
export const families: Readonly<Record<Kind, string>> = {
  voucher: 'vouchers',
  topup: 'topups',
  esim: 'esim',
}

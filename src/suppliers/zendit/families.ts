import type { Kind } from '../../catalog/offer.ts'

/** The kinds as Zendit's paths name them: `esim` is singular there, the others are plural. */
export const families: Readonly<Record<Kind, string>> = {
  voucher: 'vouchers',
  topup: 'topups',
  esim: 'esim',
}

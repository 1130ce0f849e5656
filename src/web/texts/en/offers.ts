import type { Kind } from '../../../catalog/offer.ts'

type Counted = readonly [one: string, many: string]

/** How goods, amounts and prices are named wherever they are shown. */
export const offers = {
  /** The language in which numbers and currencies are written. */
  numbers: 'en' as string,
  kindNames: {
    voucher: 'Gift card',
    topup: 'Mobile topup',
    esim: 'eSIM data plan',
  } satisfies Record<Kind, string>,
  /** Inside a sentence. */
  kindNamesWithin: {
    voucher: 'gift card',
    topup: 'mobile topup',
    esim: 'eSIM data plan',
  } satisfies Record<Kind, string>,
  /** What a brand's offers are called where several are listed. */
  kindNamesMany: {
    voucher: 'gift cards',
    topup: 'topups',
    esim: 'plans',
  } satisfies Record<Kind, string>,
  topupNames: { voice: 'Airtime', data: 'Mobile data', bundle: 'Mobile bundle' } as Readonly<
    Record<string, string>
  >,
  topupNamesWithin: { voice: 'airtime', data: 'mobile data', bundle: 'mobile bundle' } as Readonly<
    Record<string, string>
  >,
  units: {
    day: ['day', 'days'] as Counted,
    country: ['country', 'countries'] as Counted,
    minute: ['minute', 'minutes'] as Counted,
    message: ['message', 'messages'] as Counted,
  },
  data: 'Data',
  span: 'Valid for',
  calls: 'Calls',
  messages: 'Text messages',
  unlimited: 'Unlimited',
  unlimitedData: 'unlimited data',
  unlimitedCalls: 'unlimited calls',
  range: (least: string, most: string) => `${least} to ${most}`,
  price: (usdc: string) => `${usdc} USDC`,
  priceFrom: (usdc: string) => `from ${usdc} USDC`,
  notSold: 'unavailable',
  number: (id: string) => `Offer ${id}`,
  /** Where the supplier converts: the amount is known when it is delivered. */
  about: (money: string) => `about ${money}`,
}

import type { Kind } from '../../../goods/offer.ts'

/** A heading and what stands under it. */
type Titled = readonly [heading: string, text: string]
/** One line of a talk: who, what, and in which words. */
type Line = readonly [who: string, what: string, words: string]

/** Every sentence of the front page. */
export const home = {
  claim: 'Gift cards, phone credit and mobile data. Paid in crypto.',
  lead: 'No account and no card. You pay once, the code is yours within seconds, and what is not delivered is paid back by itself.',
  brands: 'Popular brands',
  brandsAll: 'See all brands',
  brandOffers: (brand: string, offers: string) => `${brand}: ${offers}`,
  kinds: 'What is on the shelf',
  anyValue: 'a value you choose',
  count: (offers: number) => `${offers.toLocaleString('en')} ${offers === 1 ? 'offer' : 'offers'}`,
  kindAll: (offers: string) => `See all ${offers}`,
  paying: 'How paying works',
  payingSteps: [
    [
      'Choose',
      'Find the card, the number to top up or the plan. The price you see is the price you pay.',
    ],
    [
      'Pay',
      'From a browser wallet in one click, or by scanning a QR code with the wallet on your phone.',
    ],
    [
      'Keep',
      'The code appears on a page that only you can open. Copy it, print it, come back to it.',
    ],
  ] as readonly Titled[],
  payWith: 'Pay with',
  payUsdc: (network: string) => `USDC on ${network}`,
  promises: 'What you can count on',
  promiseList: [
    [
      'One purchase, one charge',
      'The same order sent twice, or after a broken line, stays one order. Nobody pays two times.',
    ],
    [
      'Goods or money',
      'An order that fails or takes too long is refunded in full, without anybody asking.',
    ],
    [
      'The price you were told',
      'A price holds until you have paid or its time is over, even when the catalog changes in between.',
    ],
  ] as readonly Titled[],
  more: 'How it works, in full',
  agents: 'For software agents',
  agentsLead:
    'The same goods over plain HTTP and JSON. Reading is free and open to anyone; buying takes one request and an x402 payment.',
  talk: 'A purchase, from the first word to the last',
  talkStore: 'store',
  talkLines: [
    ['agent', 'POST …/vouchers/purchase/info', 'One gift card for Ada, please.'],
    ['store', '402 Payment Required', '25.00 USDC. Sign here.'],
    ['agent', 'POST, PAYMENT-SIGNATURE', 'The same again, signed.'],
    ['store', '200 OK', 'Here is your code, and the receipt.'],
  ] as readonly Line[],
  asJson: 'Search as JSON:',
  stepFind: 'Find an offer',
  stepFindText:
    'Three searches, one for each kind of goods, with filters by brand, country, region and text.',
  stepRead: 'Read how to buy it',
  stepReadText:
    'The manifest lists every operation with the schema of its input, the refund policy, and whether the store is well:',
  stepBuy: 'Buy it',
  stepBuyText:
    'Each offer has a page of its own with the exact calls: ask for a quote, send the purchase, sign what the 402 answer asks for. The goods come in the answer.',
  spendLimit:
    'Stock x402 clients refuse to pay more than 1 USD until their own spend limit is raised.',
  stepTry: 'Watch it happen',
  stepTryText:
    'This is a sandbox. Its demo buys one of each kind with test money and shows a refund arrive:',
  errors: 'When something is refused, the answer has a code;',
  errorsLink: 'here is what each one means',
}

interface KindTexts {
  readonly name: string
  readonly text: string
}

export const homeKinds: Readonly<Record<Kind, KindTexts>> = {
  voucher: {
    name: 'Gift cards',
    text: 'Codes for shops, games, food, travel and streaming. Fixed values, or one you choose.',
  },
  topup: {
    name: 'Mobile topups',
    text: 'Airtime and data for prepaid phones, credited straight to the number.',
  },
  esim: {
    name: 'eSIM data plans',
    text: 'Mobile data abroad. Scan a QR code and be online, in one country or in many.',
  },
}

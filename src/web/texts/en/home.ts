import type { Kind } from '../../../catalog/offer.ts'

/** A heading and what stands under it. */
type Titled = readonly [heading: string, text: string]
/** One line of a talk: who, what, and in which words. */
type Line = readonly [who: string, what: string, words: string]

/** Every sentence of the front page. */
export const home = {
  claim: 'Gift cards, phone credit and mobile data. Paid in crypto.',
  lead: 'No account, no bank card. Pay once and get your code within seconds. If we can’t deliver, we refund you.',
  brands: 'Popular brands',
  brandsAll: 'See all brands',
  brandOffers: (brand: string, offers: string) => `${brand}: ${offers}`,
  kinds: 'What we sell',
  anyValue: 'a value you choose',
  count: (offers: number) => `${offers.toLocaleString('en')} ${offers === 1 ? 'offer' : 'offers'}`,
  kindAll: (offers: string) => `See all ${offers}`,
  paying: 'How paying works',
  payingSteps: [
    [
      'Choose',
      'Find the gift card, topup or plan you want. The price you see is what we charge; a coin’s network fee comes on top in your wallet.',
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
      'An order that is sent twice, say after a lost connection, stays one order and is charged once.',
    ],
    [
      'Goods or money',
      'An order that fails or takes too long is refunded in full. You don’t have to ask.',
    ],
    [
      'The price you were told',
      'A price holds until you pay or until it expires, even if the catalog changes in the meantime.',
    ],
  ] as readonly Titled[],
  more: 'How it works, in full',
  agents: 'For software agents',
  agentsLead:
    'The same goods over plain HTTP and JSON. Reading is free and open to anyone; buying takes one request and an x402 payment.',
  talk: 'A purchase, from start to finish',
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
    'Three searches, one for each kind of product, with filters for brand, country, region and text.',
  stepRead: 'Read how to buy it',
  stepReadText:
    'The manifest lists every operation with the schema of its input, the refund policy, and whether the store is up:',
  stepBuy: 'Buy it',
  stepBuyText:
    'Each offer has a page of its own with the exact calls: request a quote, send the purchase, sign what the 402 response asks for. The goods come back in the response.',
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

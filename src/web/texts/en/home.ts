import type { Kind } from '../../../goods/offer.ts'

/** A heading and what stands under it. */
type Promised = readonly [heading: string, text: string]
/** One line of a talk: who, what, and in which words. */
type Line = readonly [who: string, what: string, words: string]

/** Every sentence of the front page. */
export const home = {
  claim: 'The kiosk that software can walk up to.',
  lead: (network: string) =>
    `Gift vouchers, mobile topups and eSIM data plans, paid per purchase in USDC on ${network}. No account, no card, no key to ask for. What is paid and not delivered goes back by itself.`,
  how: 'How agents buy',
  what: 'See what there is',
  talk: 'A purchase, from the first word to the last',
  talkStore: 'store',
  talkLines: [
    ['agent', 'POST …/vouchers/purchase/info', 'One voucher for Ada, please.'],
    ['store', '402 Payment Required', '25.00 USDC. Sign here.'],
    ['agent', 'POST, PAYMENT-SIGNATURE', 'The same again, signed.'],
    ['store', '200 OK', 'Here is your code, and the receipt.'],
  ] as readonly Line[],
  catalog: 'What is on the shelf',
  anyValue: 'a value you choose',
  count: (offers: number) => `${offers.toLocaleString('en')} ${offers === 1 ? 'offer' : 'offers'}`,
  asJson: 'Search as JSON:',
  all: 'all',
  promises: 'What you can count on',
  promiseList: [
    [
      'One purchase, one charge',
      'The same request sent twice, or after a broken line, gives the same order. Nobody pays two times.',
    ],
    [
      'Goods or money',
      'An order that fails or takes too long is refunded in full, on the chain, to the wallet that paid.',
    ],
    [
      'The price you were told',
      'A quote is free and holds for five minutes, even when the catalog changes in between.',
    ],
  ] as readonly Promised[],
  agents: 'How agents use this store',
  agentsLead:
    'Everything is plain HTTP and JSON. Reading is free and open to anyone; buying takes one request and an x402 payment.',
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
  people: 'Are you a person?',
  peopleText:
    'Checkout for people opens later. Until then software agents can buy here, also on your behalf, and you can look at every offer.',
  contact: 'Questions and problems:',
}

interface KindTexts {
  readonly name: string
  readonly text: string
  /** What to try: a label and a query of the discovery search. */
  readonly searches: readonly (readonly [label: string, query: string])[]
}

export const homeKinds: Readonly<Record<Kind, KindTexts>> = {
  voucher: {
    name: 'Gift vouchers',
    text: 'Codes for shops, games, food, travel and streaming. Fixed values, or one you choose.',
    searches: [
      ['amazon', 'search=amazon'],
      ['games in Germany', 'country=DE&subType=Gaming+%26+Entertainment'],
    ],
  },
  topup: {
    name: 'Mobile topups',
    text: 'Airtime and data for prepaid phones, credited straight to the number.',
    searches: [
      ['data in Mexico', 'country=MX&subType=data'],
      ['Africa', 'region=Africa'],
    ],
  },
  esim: {
    name: 'eSIM data plans',
    text: 'Mobile data abroad. Scan a QR code and be online, in one country or in many.',
    searches: [
      ['Japan', 'country=JP'],
      ['all of Europe', 'regions=Europe'],
    ],
  },
}

import type { Kind } from '../../../catalog/offer.ts'

/** Every sentence of the page of an offer. */
export const buy = {
  breadcrumb: 'You are here',
  summary: (amount: string) => `${amount} USDC, delivered at once, no account`,
  price: 'Price',
  to: 'to',
  currency: 'USDC',
  choose: (least: string, most: string, step: string) =>
    `You choose the value: ${least} to ${most}, in steps of ${step}.`,
  paidOn: (network: string) => `Paid in USDC on ${network}. 1 USDC counts as 1 US dollar.`,
  orCoins: (coins: string) => `Or pay the equivalent in ${coins}.`,
  available: 'Available',
  notSold: 'Currently unavailable',
  noPrice: 'No price at the moment',
  receive: 'You receive',
  when: 'When',
  whenText: (minutes: number) =>
    `Usually within seconds. An order that isn’t delivered within ${minutes === 1 ? '1 minute' : `${minutes} minutes`} is refunded instead.`,
  refund: 'Refund',
  refundTail: 'It goes to the wallet that paid, or to your refund address, within 24 hours.',
  accepts: 'Account',
  acceptsText: 'None needed, and no bank card.',
  people: 'Software agents buy it too:',
  peopleLink: 'see how',
  facts: 'About this offer',
  description: 'About the brand',
  notes: 'Good to know',
  redeem: 'How to use it',
  coverage: 'Where it works',
  coverageAll: (count: string) => `Show all ${count}`,
  choices: (brand: string, kinds: string, place: string) => `${brand} ${kinds} for ${place}`,
  otherCoverage: 'Other coverage',
  agents: 'How an agent buys this',
  agentsLead:
    'An agent needs no account and no key: only a wallet with USDC. It talks to this store in plain HTTP and pays with the x402 protocol.',
  agentsNotSold:
    'Until the offer is available again, these calls return the reason and ask for no payment.',
  placeholders: 'These are sample values in the right format. Replace them with your own.',
  stepQuote: 'Ask for the exact price',
  stepQuoteText:
    'Free. The response gives the exact price of this purchase, or lists every field that is wrong.',
  stepPost: 'Send the purchase',
  stepPostText:
    'Without a payment the store answers 402 Payment Required and says what to sign. That price holds for five minutes.',
  stepPay: 'Pay, and receive the goods',
  stepPayText: (quoteNetwork: string) =>
    `Sign the authorization for USDC on ${quoteNetwork} and send the same request again with it in the PAYMENT-SIGNATURE header. An x402 client such as @x402/fetch does this step by itself. The answer is 200 with the goods, or 202 with the address of the order: ask there every 5 seconds.`,
  spendLimitOver:
    'This costs more than 1 USD. Stock x402 clients refuse to pay more than that until their own spend limit is raised.',
  spendLimitSome:
    'Stock x402 clients refuse to pay more than 1 USD until their own spend limit is raised.',
  spendLimitUnder:
    'This costs no more than 1 USD, so stock x402 clients pay it without a raised spend limit.',
  record: 'This offer as JSON, with the schema of the request body',
  fields: 'Fields of the purchase',
  factNames: {
    kind: 'Kind',
    value: 'Value',
    values: 'Values',
    credited: 'Credited to the phone',
    country: 'Country',
    worksIn: 'Works in',
    regions: 'Region',
    category: 'Category',
    tier: 'Speed tier',
    speeds: 'Network speeds',
    brand: 'Brand',
    operator: 'Operator',
    provider: 'Provider',
    id: 'Offer number',
  },
  /** What the buyer holds in the end. */
  delivered: {
    voucher:
      'The code of the gift card, with its PIN or the address to redeem it where the brand uses one.',
    topup:
      'Credit on the phone number you name, and the confirmation of the carrier. There is nothing to redeem.',
    esim: 'The ICCID and the activation code of the eSIM, as text and as a QR code to scan.',
  } satisfies Record<Kind, string>,
  /** What each field of a purchase means, by its published name. */
  fieldTexts: {
    offerId: 'the number of this offer',
    firstName: 'first name of the recipient',
    lastName: 'last name of the recipient',
    email: 'e-mail address of the recipient; this brand asks for it',
    country: 'country of the recipient as two letters, such as US; this brand asks for it',
    msisdn: 'phone number to credit, in international form with a plus sign',
    value: 'the value you choose, in US dollars',
    iccid: 'optional: an eSIM bought here, to recharge it instead of getting a new one',
  } as Readonly<Record<string, string>>,
}

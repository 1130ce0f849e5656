import type { Kind } from '../../../catalog/offer.ts'
import { phoneFaults } from '../../../catalog/phone.ts'
import { foreignIccid, unknownNumber, valueForm } from '../../../catalog/purchase-body.ts'
import { coinNames, coinOn } from './coins.ts'

/** A field of a purchase as people are asked for it. */
interface FieldText {
  readonly label: string
  readonly hint?: string
  /** What is said when nothing stands in it. */
  readonly missing: string
  /** What is said when what stands in it is none. */
  readonly wrong: string
  /** What is said instead where the service's own words begin so. */
  readonly instead?: readonly (readonly [said: string, text: string])[]
}

/** Every field that a purchase may ask a person for, by its published name. */
const fields: Readonly<Record<string, FieldText>> = {
  value: {
    label: 'Amount in US dollars',
    missing: 'Enter the amount that you want, in US dollars.',
    wrong: 'This amount isn’t sold. Enter one within the limits above, and in their steps.',
    instead: [
      [valueForm, 'Enter a number of US dollars with at most two decimals, such as 25 or 12.50.'],
    ],
  },
  msisdn: {
    label: 'Phone number to top up',
    missing: 'Enter the number to top up.',
    wrong: 'This number can’t be topped up. Check it.',
    instead: [
      [
        phoneFaults.form,
        'Enter the number with + and the country code, or as it is dialled there.',
      ],
      [
        phoneFaults.impossible,
        'No phone has this number: it is too long or too short for its country. Check it.',
      ],
      [
        phoneFaults.otherCode,
        'This number is of another country than this offer. Check it, or search for an offer of its country.',
      ],
      [
        phoneFaults.otherCountry,
        'This number is of another country than this offer. Check it, or search for an offer of its country.',
      ],
      [phoneFaults.notMobile, 'This is not the number of a mobile phone. Enter one that is.'],
      [
        unknownNumber,
        'We don’t know any phone with this number. Check it. If it is right, tick the box below it.',
      ],
    ],
  },
  firstName: {
    label: 'First name',
    missing: 'Enter the recipient’s first name.',
    wrong: 'A first name has 1 to 80 letters, and no line breaks.',
  },
  lastName: {
    label: 'Last name',
    missing: 'Enter the recipient’s last name.',
    wrong: 'A last name has 1 to 80 letters, and no line breaks.',
  },
  email: {
    label: 'E-mail address',
    hint: 'The brand registers the card to this address. We won’t e-mail it.',
    missing: 'Enter an e-mail address. This brand asks for one.',
    wrong: 'This is not an e-mail address. One looks like ada@example.com.',
  },
  country: {
    label: 'Country of residence',
    hint: 'This brand asks for it.',
    missing: 'Choose a country. This brand asks for it.',
    wrong: 'Choose a country from the list.',
  },
  iccid: {
    label: 'Number (ICCID) of the eSIM',
    hint: '19 or 20 digits that begin with 89. Leave it empty for a new eSIM.',
    missing: 'Enter the number of the eSIM, or leave it empty for a new one.',
    wrong: 'An eSIM has 19 or 20 digits, beginning with 89. Leave it empty for a new one.',
    instead: [
      [
        foreignIccid,
        'We don’t know this eSIM, so it can’t be topped up here. Check the number, or leave it empty for a new eSIM.',
      ],
    ],
  },
}

const heading: Readonly<Record<Kind, string>> = {
  voucher: 'Who is it for?',
  topup: 'Which phone?',
  esim: 'Your plan',
}

/** Every sentence of the form that a person buys with. */
export const form = {
  fields,
  heading,
  buy: 'Buy',
  optional: 'optional',
  receives: (money: string) => `You get ${money}.`,
  range: (least: string, most: string, step: string) =>
    `Any amount from ${least} to ${most}, in steps of ${step}.`,
  rangeCost: (percent: string) => `You pay that amount plus ${percent}.`,
  rangeCostSame: 'You pay exactly that amount.',
  rangeCostBetween: (least: string, most: string) =>
    `You pay from ${least} USDC for the least to ${most} USDC for the most.`,
  phone: (country: string, code: string) =>
    `In ${country}, with +${code} or as it is dialled there. Double-check it: top-ups can’t be reversed.`,
  phoneElsewhere: 'With + and the country code. Double-check it: top-ups can’t be reversed.',
  numberIsRight: 'This number is right: top it up',
  recharge: 'Top up an eSIM you bought here',
  mail: 'E-mail for a lost link',
  mailHint:
    'If you lose your private link, you can have a new one sent there. We store only a hash of the address, and send nothing by ourselves.',
  mailWrong:
    'This is not an e-mail address. One looks like ada@example.com. You can also leave it empty.',
  chooseCountry: 'Choose',
  pay: 'How do you want to pay?',
  payWith: coinOn,
  coins: coinNames,
  wallet: (network: string) => `USDC on ${network}`,
  walletHint: 'From a wallet in this browser. Takes seconds, no network fee.',
  about: (amount: string, coin: string) => `about ${amount} ${coin}`,
  noScript:
    'Paying with a wallet in this browser needs script, which is off here. Everything else works without.',
  noScriptAlone:
    'This store takes USDC from a wallet in this browser, and that needs script, which is off here. Switch it on and load the page again.',
  refundTo: (coin: string, network: string) => `Your ${coinOn(coin, network)} refund address`,
  refundWhy:
    'We send refunds here: overpayments, late or partial payments, undelivered orders. Use your own wallet; exchange deposit addresses may not accept refunds.',
  network: (coin: string, network: string) =>
    `Send on the ${network} network only. ${coin} sent on any other network is lost.`,
  nextText: 'You’ll see the exact amount and address next. Nothing is paid yet.',
  choose: 'Choose how to pay.',
  continue: 'Continue',
  refundMissing: (coin: string) => `Enter your ${coin} refund address.`,
  refundWrong: (coin: string, network: string) =>
    `This is not an address for ${coinOn(coin, network)}. Copy it from your wallet again.`,
  refundOurs:
    'This address belongs to the store: it is where a payment goes. Enter one of your own wallet.',
  otherFault: 'A part of this form can’t be read. Load the page again.',
  faultsTitle: 'Please fix the following',
  faultsText: 'You haven’t been charged, and what you typed is still there.',
  errorPrefix: 'Check the form: ',
  didYouMean: (meant: string) => `Did you mean ${meant}?`,
  dearer: (price: string) =>
    `The price has changed since you opened this page. It is ${price} now. Nothing was paid: look at it again, and continue if you still want it.`,
  dearerOpen:
    'The price has changed since you opened this page. Nothing was paid: look at it again, and continue if you still want it.',
  paused:
    'The store takes no new orders just now. Nothing was paid. Try again in a few minutes; what you typed is still there.',
  notNow:
    'A part of the store did not answer. Nothing was paid. Send the form again: it counts once, however often you send it.',
  tooMany:
    'Many payments were begun from your connection in the last hour. Pay one of them, or try again later. Nothing was paid, and what you typed is still there.',
  unpaid: (count: number, coin: string) =>
    `You have ${count} unpaid checkouts in ${coin} open from your connection, and each keeps an address for its payment. Pay one of them, wait until they are over (up to a day), or choose another coin. Nothing was paid, and what you typed is still there.`,
  cameToNothing: (minutes: number) =>
    `Too many orders from your connection, for this recipient or with this refund address failed in the last hour. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}. Nothing was paid, and what you typed is still there.`,
  elsewhere: {
    title: 'This form came from another site',
    text: 'Only the pages of this store can start a purchase here. Open the offer here and send its own form. Nothing was paid.',
  },
  strange: {
    title: 'This is not the form of this page',
    text: 'Something in it is missing, or it is too long. Load the page again and send it from there. Nothing was paid.',
  },
} as const

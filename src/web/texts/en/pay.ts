import type { CheckoutStage } from '../../../api/checkout/service.ts'
import { namedCoinOn } from './coins.ts'

/** What a stage is called, and what a person should know and do in it. */
interface StageText {
  readonly title: string
  /** Some say it with the most, in US dollars, that is not sent back. */
  readonly text: string | ((least: string) => string)
  /** Read out when the page comes to this stage by itself. */
  readonly say: string
  /** All that is said to those who have not shown that it is theirs. */
  readonly state: string
}

const stages: Readonly<Record<CheckoutStage, StageText>> = {
  opening: {
    title: 'One moment',
    text: 'The payment is being prepared. The amount and the address appear here as soon as they are there.',
    say: 'The payment is being prepared.',
    state: 'It is being prepared.',
  },
  refused: {
    title: 'This payment could not be prepared',
    text: 'There is no address for it just now, so nothing was paid. Choose another coin, or try again later.',
    say: 'The payment could not be prepared. Nothing was paid.',
    state: 'It could not be prepared. Nothing was paid.',
  },
  waiting: {
    title: 'Send your payment',
    text: 'Scan the code, or copy the amount and the address into your wallet.',
    say: 'The amount and the address are shown.',
    state: 'It has not arrived yet.',
  },
  partly_paid: {
    title: 'Partial payment received',
    text: 'Send the rest to the same address, in time. Otherwise we’ll return what you sent.',
    say: 'A part of your payment has arrived. Some is missing.',
    state: 'A part of it has arrived.',
  },
  confirming: {
    title: 'Payment detected',
    text: 'Waiting for network confirmation. Do not pay again. You can close this page: your link below opens it again.',
    say: 'Your payment was seen. It waits to be confirmed by the network.',
    state: 'It was seen, and waits to be confirmed.',
  },
  closing: {
    title: 'Payment window expired',
    text: 'We’re checking what arrived in time. Do not send anything to the address any more. This page updates automatically.',
    say: 'The time to pay is over. We are looking at what arrived in time.',
    state: 'Its time is over, and what arrived in time is being looked at.',
  },
  unwatched: {
    title: 'Do not pay just now',
    text: 'We can’t see payments to this address at the moment. If you have paid already, keep your link: our team is looking into it, and this page updates automatically.',
    say: 'Do not pay just now. We can’t see payments to this address at the moment.',
    state: 'It can’t be paid at the moment.',
  },
  paid: {
    title: 'Paid',
    text: 'Your payment is confirmed, and your order is under way.',
    say: 'Your payment is confirmed.',
    state: 'It is paid.',
  },
  expired: {
    title: 'Payment window expired',
    text: (least) =>
      `Do not send anything to the address any more. What was sent is returned, unless it is worth ${least} USD or less.`,
    say: 'The time to pay is over.',
    state: 'Its time is over.',
  },
}

/** Every sentence of the page of a payment. */
export const pay = {
  stages,
  foreignHeading: 'Payment',
  about: 'The payment of an order, as it stands.',
  amount: 'Amount',
  amountRest: 'Remaining',
  arrived: (seen: string, whole: string) => `${seen} of ${whole} arrived`,
  worth: (usdc: string) => `= ${usdc} USD`,
  rate: (coin: string, rate: string) => `1 ${coin} = ${rate} USD`,
  rateHeld: (until: string) => `Price locked until ${until}.`,
  minutesLeft: (minutes: number) =>
    minutes === 1 ? 'less than 1 minute left' : `less than ${minutes} minutes left`,
  address: (network: string) => `Send it to this ${network} address`,
  network: namedCoinOn,
  networkOnly: (coin: string, network: string) =>
    `Send only ${coin}, and only on the ${network} network. Anything else sent to this address is lost.`,
  qrTitle: 'QR code',
  qrWhole: 'With amount',
  qrAddress: 'Address only',
  qrWholeAlt: 'QR code with the address and the amount',
  qrAddressAlt: 'QR code with the address alone',
  qrHelp: 'If your wallet doesn’t accept this code, show the address only, and copy the amount.',
  open: 'Open in wallet',
  sandbox: 'Pay in the sandbox',
  keepTitle: 'Keep this link',
  keep: 'It opens this payment, and then your order, on any device. Anyone with this link can see your order; keep it private. It works even if you close this page.',
  keepOver:
    'It opens this page on any device, and shows what became of money that came. Keep it to yourself.',
  detailsTitle: 'If something goes wrong',
  less: 'Too little: send the rest in time, or we return what you sent.',
  more: 'Too much, or twice: you get your order, and we return what is over.',
  late: 'Too late: it goes back, if it comes while the address is watched. That is until ',
  lateUnseen:
    'Too late, or once more after your order: we can’t see it automatically. Write to the store, with the transaction, and our team refunds it.',
  expiredUnseen:
    'Do not send anything to the address any more. If you sent something that isn’t listed below, we can’t see it automatically. Write to the store, with the transaction, and our team refunds it.',
  byHand: 'Our team sends refunds of this coin, in full; we cover the network fee.',
  backTo: 'Refund to',
  fees: 'Refunds are sent in full; we cover the network fee.',
  small: (most: string) =>
    `Amounts of ${most} USD or less aren’t refunded; sending them would cost as much.`,
  number: 'Payment number',
  backTitle: 'Refunds',
  again: 'Start again',
  toOrder: 'Go to your order',
  foreignTitle: 'Is this yours?',
  foreign: 'Paste your private link (or the part after #) or your recovery code to see more.',
  tokenLabel: 'Private link',
  openIt: 'Open',
  tokenWrong:
    'This does not open this payment. Copy the whole link, with everything after the #, or the whole code.',
  notFound: {
    title: 'Payment not found',
    text: 'Check the link for typos, or open it from the one that you kept.',
  },
  left: (time: string) => `${time} left`,
} as const

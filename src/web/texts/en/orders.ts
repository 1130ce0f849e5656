import type { OrderStage } from '../../../api/tracking/stage.ts'
import type { Kind } from '../../../catalog/offer.ts'
import { coinOn } from './coins.ts'

/** What the page says at the top, by where the order stands. */
export interface StageText {
  readonly title: string
  readonly text: string
}

/** Every sentence of the pages of an order and its refund. */
export const orders = {
  description: 'Where this order stands, and what to do next.',
  stages: {
    awaiting_payment: {
      title: 'Waiting for your payment',
      text: 'The order begins when the payment has arrived and is confirmed.',
    },
    checking_payment: {
      title: 'Checking the payment',
      text: 'We’re making sure that the money arrived. This page updates automatically; don’t pay a second time.',
    },
    not_paid: {
      title: 'This order was not paid',
      text: 'No money was taken for it.',
    },
    delivering: {
      title: 'Paid – preparing your order',
      text: 'Most orders arrive within a minute. This page updates automatically; you can also close it and come back.',
    },
    delivered: { title: 'Delivered', text: 'Ready. Open it below.' },
    refunding: {
      title: 'Your refund is on its way',
      text: 'We couldn’t deliver it, so we’re refunding its full price. No action needed.',
    },
    refund_by_hand: {
      title: 'Manual refund in progress',
      text: 'We couldn’t deliver it, so we’re refunding its full price. This coin can’t be sent automatically: our team will send it. No action needed.',
    },
    refund_stuck: {
      title: 'Refund delayed',
      text: 'We couldn’t deliver it, and we couldn’t send your refund yet. We’re on it; your money is safe.',
    },
    refunded: {
      title: 'Refunded',
      text: 'We couldn’t deliver it, so we refunded its full price.',
    },
    not_taken: {
      title: 'No money was taken',
      text: 'It could not be delivered, and the chain dropped your payment for good: the money never left your wallet, so none has to come back. You can buy it again.',
    },
  } as const satisfies Record<string, StageText>,

  /** All that is said of an order to whoever knows it by what stands in the chain. */
  states: {
    awaiting_payment: 'Not paid yet.',
    checking_payment: 'The payment is being checked.',
    not_paid: 'Not paid.',
    delivering: 'Paid, and being prepared.',
    delivered: 'It was delivered.',
    refunding: 'Not delivered. The refund is on its way.',
    refund_by_hand: 'Not delivered. Our team sends the refund.',
    refund_stuck: 'Not delivered. The refund is delayed.',
    refunded: 'Not delivered, and refunded.',
    not_taken: 'Not delivered, and no money was taken.',
  } satisfies Record<OrderStage, string>,

  notPaidIn: (coin: string, most: string) =>
    `What arrived in ${coin}, or still arrives, goes back where you asked for it, unless it is worth ${most} US dollars or less.`,
  lookAgain: 'Load this page again to see how it stands now',
  timeline: 'Progress',
  steps: {
    awaiting: 'Payment',
    paid: 'Paid',
    checking: 'Payment being checked',
    notPaid: 'Not paid',
    delivering: 'Being delivered',
    delivered: 'Delivered',
    notDelivered: 'Could not be delivered',
    sending: 'Refund on its way',
    byHand: 'Manual refund',
    stuck: 'Refund pending',
    notTaken: 'No money was taken',
    sent: 'Refunded',
    now: 'now',
    next: 'next',
    latest: 'by',
  },
  why: {
    fulfillment_failed: 'The supplier could not deliver it.',
    upstream_timeout: 'The supplier did not answer in time.',
    expired: 'It wasn’t delivered in time.',
  },

  pay: 'Go to the payment',
  facts: 'Your order',
  item: 'Item',
  price: 'Price',
  paidWith: 'Paid with',
  payment: 'Payment transaction',
  order: 'Order',
  onNetwork: coinOn,
  look: 'View on explorer',
  receipt: 'Download the signed receipt',
  receiptHint: 'It proves what you paid and what became of it, and anyone can verify it.',

  locked: {
    title: 'Is this your order?',
    text: 'Anyone with this URL can see the status. Use your private link or your recovery code to see the contents.',
    label: 'Private link or recovery code',
    help: 'The whole link or the part after the #, which begins with kat_ or kop_; or the code of three groups that stood beside it.',
    open: 'Open the order',
    wrong:
      'This does not open this order. Copy the whole link, with everything after the #, or the whole code.',
    old: (days: number) => `This link has expired: it was good for ${days} days.`,
    askNew: 'Request a new one',
    useCode: 'Use the recovery code instead.',
    byWallet: 'Paid from a wallet?',
    signIn: 'Sign in with it',
    byMail: 'Left an e-mail address?',
    askMail: 'Ask for a new link',
    lost: 'Lost both?',
    write: 'Write to the store, with this number',
  },
  keep: {
    title: 'Keep this link',
    text: 'It opens this order at any time and on any device. Anyone with this link can see your order; keep it private.',
    textFor: (days: number) =>
      `It opens this order for ${days === 1 ? '1 day' : `${days} days`}. Anyone with this link can see your order; keep it private.`,
    label: 'Private link of this order',
    code: 'Recovery code, to write down. It opens the order too:',
    codeLabel: 'Recovery code',
  },
  elsewhere: {
    title: 'This came from another page',
    text: 'A page of another site sent this. Open your order here and press the button again.',
  },
  goods: {
    title: { voucher: 'Your gift card', topup: 'Your topup', esim: 'Your eSIM' } satisfies Record<
      Kind,
      string
    >,
    ready: 'It is shown when you press the button; make sure nobody is watching your screen.',
    show: {
      voucher: 'Show the code',
      topup: 'Show the details',
      esim: 'Show the eSIM',
    } satisfies Record<Kind, string>,
    hide: 'Hide',
    code: 'Code',
    pin: 'PIN',
    redeemAt: 'Where to redeem it',
    expires: 'Valid until',
    confirmation: 'Confirmation number',
    number: 'Number',
    credited: 'Credited',
    creditedText: 'The number was topped up. Nothing is left to do.',
    instructions: 'How to use it',
    terms: 'Terms of the seller',
  },
  esim: {
    qr: (lpa: string) => `QR code that installs the eSIM. It says: ${lpa}`,
    scan: 'Scan it with the phone that gets the eSIM.',
    here: 'On this phone',
    ios: 'Install on iPhone',
    iosNote: 'iOS 17.4 or later',
    android: 'Install on Android',
    androidNote: 'Android 10 or later',
    once: 'Most eSIMs can be installed once only. Use a stable connection, and don’t delete it afterwards.',
    byHand: 'Enter manually',
    lpa: 'Full activation code',
    smdp: 'SM-DP+ address',
    matching: 'Activation code',
    iccid: 'ICCID',
    stepsIos: 'Steps on an iPhone',
    ios1: 'Open Settings, Mobile Service (or Cellular), Add eSIM.',
    ios2: 'Choose “Use QR Code” and scan the code, or “Enter Details Manually” and copy the address and the code from here.',
    ios3: 'Wait until the line is shown as active, then turn on Data Roaming for it where you travel.',
    stepsAndroid: 'Steps on Android',
    android1: 'Open Settings, Network and internet (or Connections), SIMs, Add eSIM.',
    android2:
      'Choose to scan the QR code, or to enter the code by hand: that is the whole activation code, with LPA: in front.',
    android3: 'Turn the new SIM on, and turn on roaming for it where you travel.',
  },

  mail: {
    title: 'Get the link by e-mail',
    text: 'Optional. We send you a link to this order, and a new one when you ask. We store only a hash of your address.',
    label: 'E-mail address',
    send: 'Send me the link',
    sent: 'A mail with a link to this order is on its way.',
    failed: 'The mail could not be sent just now. Keep the link above, and try again later.',
    wrong: 'This is not an e-mail address. It looks like name@example.org.',
    tooMany:
      'Many mails were asked for from your network in the last hour, so none was sent now. Keep the link above, and try again later.',
  },

  refund: {
    title: 'Refund',
    description: 'Where the money of this order is.',
    link: 'About the refund',
    returnsLink: 'We received an extra payment. View its refund',
    back: 'Back to the order',
    none: 'This order has no refund',
    noneText: 'It was not paid, so there is no price to refund.',
    delivered: 'It was delivered, and delivered goods are not refundable.',
    underWay: 'It is still under way. If it can’t be delivered, its full price is refunded.',
    amount: 'Amount',
    worth: (coin: string, usd: string) => `${coin} (${usd} USD)`,
    to: 'Refund to',
    wentTo: 'Refunded to',
    started: 'Started',
    sent: 'Sent',
    transaction: 'Transaction of the refund',
    why: 'Why',
    by: 'Refunds are sent within a day, in full, and only to where the money came from or where you asked for it.',
    blocked:
      'The issuer of USDC blocks the wallet that paid, and a refund goes to no other. Only its owner can act: ask the issuer to unblock it. The refund can be tried again then.',
    ask: 'Try the refund again',
    askText:
      'You may ask us to try once more. It is the same refund, to the same place, and it is sent once.',
    asked: 'It is being tried again.',
    tooOften: (minutes: number) =>
      `This refund was asked for several times within an hour. It is still on record, and nothing is lost. You can ask again in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}.`,
    returns: 'Other payments',
    returnsTitle: 'Refunds',
    returnsText: 'We received more than the order total. Details below.',
    lockedText: 'Amounts and addresses are shown to whoever has the private link of the order.',
  },
}

import type { Kind } from '../../../goods/offer.ts'
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
      text: 'We are making sure that the money arrived. This page changes by itself; never pay a second time.',
    },
    not_paid: {
      title: 'This order was not paid',
      text: 'No money was taken for it.',
    },
    delivering: {
      title: 'Paid, and on its way',
      text: 'Most orders arrive within a minute. This page changes by itself; you can also close it and come back.',
    },
    delivered: { title: 'Delivered', text: 'It is here. Open it below whenever you like.' },
    refunding: {
      title: 'Your money is on its way back',
      text: 'It could not be delivered, so you get back all you paid. You need not do anything.',
    },
    refund_by_hand: {
      title: 'Your money goes back by hand',
      text: 'It could not be delivered, so you get back all you paid. This coin cannot be sent back automatically: somebody at the store sends it. You need not do anything.',
    },
    refund_stuck: {
      title: 'Your refund waits for us',
      text: 'It could not be delivered, and sending your money back did not work at once. We know of it, and nothing of it is lost.',
    },
    refunded: {
      title: 'Your money is back',
      text: 'It could not be delivered. All you paid was sent back.',
    },
    not_taken: {
      title: 'No money was taken',
      text: 'It could not be delivered, and the chain dropped your payment for good: the money never left your wallet, so none has to come back. You can buy it again.',
    },
  } as const satisfies Record<string, StageText>,

  notPaidIn: (coin: string, most: string) =>
    `What arrived in ${coin}, or still arrives, goes back where you asked for it, unless it is worth ${most} US dollars or less.`,
  lookAgain: 'Load this page again to see how it stands now',
  timeline: 'What has happened so far',
  steps: {
    awaiting: 'Payment',
    paid: 'Paid',
    checking: 'Payment being checked',
    notPaid: 'Not paid',
    delivering: 'Being delivered',
    delivered: 'Delivered',
    notDelivered: 'Could not be delivered',
    sending: 'Money on its way back',
    byHand: 'The store sends it by hand',
    stuck: 'Refund waits for the store',
    notTaken: 'No money was taken',
    sent: 'Money sent back',
    now: 'now',
    next: 'to come',
    latest: 'at the latest',
  },
  why: {
    fulfillment_failed: 'The supplier could not deliver it.',
    upstream_timeout: 'The supplier did not answer in time.',
    expired: 'It did not arrive in the time that was promised.',
  },

  pay: 'Go to the payment',
  facts: 'Your order',
  item: 'Item',
  price: 'Price',
  paidWith: 'Paid with',
  payment: 'Payment transaction',
  order: 'Order',
  onNetwork: coinOn,
  look: 'See it on the chain',
  receipt: 'Download the signed receipt',
  receiptHint: 'It proves what you paid and what became of it, and can be checked without us.',

  locked: {
    title: 'Is this your order?',
    text: 'Everyone who knows this address sees where the order stands. What was bought is shown to whoever has its private link.',
    label: 'Private link',
    help: 'The whole link, or what stands behind its #. It begins with kat_ or kop_.',
    open: 'Open the order',
    wrong: 'This does not open this order. Copy the whole link, with everything behind the #.',
    old: (days: number) => `This link was good for ${days} days.`,
    askNew: 'Ask for a new one',
    byWallet: 'Paid from a wallet?',
    signIn: 'Sign in with it',
    byMail: 'Left an e-mail address?',
    askMail: 'Ask for a new link',
    lost: 'Lost the link?',
    find: 'Find your order another way',
  },
  keep: {
    title: 'Keep this link',
    text: 'It opens this order at any time and on any device. Whoever has it sees what you bought, so keep it to yourself.',
    textFor: (days: number) =>
      `It opens this order for ${days === 1 ? '1 day' : `${days} days`}. Whoever has it sees what you bought, so keep it to yourself.`,
    label: 'Private link of this order',
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
    ready:
      'It is shown when you press the button, so open it where nobody looks over your shoulder.',
    show: {
      voucher: 'Show the code',
      topup: 'Show the details',
      esim: 'Show the eSIM',
    } satisfies Record<Kind, string>,
    hide: 'Hide it again',
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
    once: 'Most eSIMs can be installed once only. Do it with a good connection, and do not delete it afterwards.',
    byHand: 'By hand',
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
    text: 'Optional. We send you a link to this order, and can send a new one when you ask. The address itself is not kept, only a fingerprint of it.',
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
    returnsLink: 'Other money came, too. See how it goes back',
    back: 'Back to the order',
    none: 'This order has no refund',
    noneText: 'It was not paid, so there is no price to send back.',
    delivered: 'It was delivered, and delivered goods are not refundable.',
    underWay: 'It is still under way. If it cannot be delivered, all you paid goes back.',
    amount: 'Amount',
    worth: (coin: string, usd: string) => `${coin} (the price was ${usd} USD)`,
    to: 'Goes back to',
    wentTo: 'Went back to',
    started: 'Decided',
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
    returns: 'Other money that came',
    returnsTitle: 'Money that goes back',
    returnsText: 'Money came that is not the price of this order. Where it is stands below.',
    lockedText: 'Amounts and addresses are shown to whoever has the private link of the order.',
  },
}

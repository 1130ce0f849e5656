/** Every sentence of the page that finds an order again. */
export const find = {
  title: 'Find your order',
  description: 'Open an order again: by its payment, with the wallet that paid, or by e-mail.',
  intro: 'Have the private link? Open it, and you are there. Without it, one of these helps.',
  payment: {
    title: 'By the payment',
    text: 'Your wallet shows the transaction that paid. It is public, so it tells where the order stands; the wallet that paid, once signed in, comes to its page.',
    label: 'Transaction',
    help: '64 letters and digits, or the address of the transaction in an explorer.',
    find: 'Find it',
    wrong:
      'There is no transaction in this. It has 64 letters (a to f) and digits, on some chains with 0x in front.',
    found: 'This transaction paid for an order here.',
    open: 'To open it, use its private link, sign in with the wallet that paid, or ask for the link by e-mail if you left your address.',
    none: 'No order of this store was paid with this transaction. A payment that was made a moment ago may not be known yet.',
  },
  wallet: {
    title: 'With the wallet that paid',
    text: 'For orders paid in USDC. Your wallet signs a sentence; it costs nothing and moves nothing.',
    connect: 'Sign in with',
    searching:
      'No wallet was found in this browser yet. Open this page in the browser of your wallet, or install one.',
    noScript: 'Signing in needs JavaScript, because the wallet lives in the browser.',
    refused: 'The wallet did not sign. Nothing has happened; try again when you like.',
    failed:
      'The sign-in was not accepted. Ask the wallet once more; a sentence is good for five minutes.',
    offline: 'The store could not be reached. Try again in a moment.',
    working: 'Look into your wallet: it asks you to sign.',
  },
  mail: {
    title: 'By e-mail',
    text: 'If you left your address with an order, we send you a link to it.',
    label: 'E-mail address',
    send: 'Send me the links',
    done: 'If there are orders for this address, a mail is on its way. It may take a minute; look among unwanted mail, too.',
    wrong: 'This is not an e-mail address. It looks like name@example.org.',
    tooMany:
      'Many mails were asked for from your network in the last hour, so none was sent now. Try again later, or use another way.',
  },
  list: {
    title: 'Orders of your wallet',
    wallet: 'Signed in with',
    none: 'This wallet has not paid for anything here.',
    more: (shown: number, total: number) => `The newest ${shown} of ${total}.`,
    leave: 'Sign out',
    states: {
      PAYMENT_PENDING: 'Payment being checked',
      PAYMENT_FAILED: 'Not paid',
      PAID: 'On its way',
      FULFILLING: 'On its way',
      FULFILLED: 'Delivered',
      FULFILLMENT_FAILED: 'Not delivered',
      EXPIRED: 'Not delivered',
      REFUND_PENDING: 'Money on its way back',
      REFUNDED: 'Money sent back',
      // Also where the chain dropped the payment and none is due; the page of the order says which.
      REFUND_FAILED: 'Not delivered, and no refund sent',
    } as Readonly<Record<string, string>>,
  },
}

/** What a mail with links says. Plain text only. */
export const mails = {
  subject: (store: string) => `Your order at ${store}`,
  hello:
    'Here is what you asked for: the private link to your order. Whoever has it sees what you bought.',
  helloMany:
    'Here is what you asked for: the private links to your orders. Whoever has one sees what you bought.',
  good: (days: number, url: string) =>
    `A link works for ${days} days. For a new one, ask here: ${url}`,
  notYou: 'You did not ask for this? Then somebody typed your address. You need not do anything.',
}

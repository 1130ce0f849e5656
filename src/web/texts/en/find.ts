/** Every sentence of the page that finds an order again. */
export const find = {
  title: 'Find your order',
  description:
    'Open an order again: by its number or its payment, with the wallet that paid, or by e-mail.',
  intro: 'Have your private link? Just open it. Otherwise:',
  recent: {
    title: 'Opened in this browser',
    none: 'No order has been opened in this browser.',
    keep: 'Remember my orders in this browser',
    text: 'Only numbers, brands and dates, kept in this browser and nowhere else. Untick it on a computer that others use, and the list is erased.',
  },
  number: {
    title: 'By number or payment',
    label: 'Order number, payment number, transaction or address',
    help: 'You’ll see the order’s status; contents stay hidden until you verify it’s yours. A number begins with ord_ or chk_. Your wallet shows the transaction, and the address that you paid to.',
    find: 'Find it',
    wrong:
      'That isn’t an order number, a payment number, a transaction ID or an address. Copy it again, whole.',
    none: 'We don’t know an order by this. A payment that was made a moment ago may not be known yet.',
  },
  found: { title: 'We found your order' },
  wallet: {
    title: 'With the wallet that paid',
    text: 'For orders paid in USDC. Sign a message with your wallet. It’s free and moves no funds.',
    connect: 'Sign in with',
    searching:
      'No wallet was found in this browser yet. Open this page in the browser of your wallet, or install one.',
    noScript: 'Signing in needs JavaScript, because the wallet lives in the browser.',
    refused: 'The wallet did not sign. Nothing has happened; try again when you like.',
    failed:
      'The sign-in was not accepted. Ask the wallet once more; a message is good for five minutes.',
    offline: 'The store could not be reached. Try again in a moment.',
    working: 'Check your wallet to sign.',
  },
  mail: {
    title: 'By e-mail',
    text: 'If you left your address with an order, we send you links to the orders that you left it with.',
    label: 'E-mail address',
    send: 'Send me the links',
    done: 'If there are orders for this address, a mail is on its way. It may take a minute; check your spam folder.',
    wrong: 'This is not an e-mail address. It looks like name@example.org.',
    tooMany:
      'Too many requests came from your network in the last hour, so none was sent now. Try again later, or use another way.',
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
      REFUND_PENDING: 'Refund on its way',
      REFUNDED: 'Refunded',
      // Also where the chain dropped the payment and none is due; the page of the order says which.
      REFUND_FAILED: 'Not delivered, and no refund sent',
    } as Readonly<Record<string, string>>,
  },
}

/** What a mail with links says. Plain text only. */
export const mails = {
  subject: (store: string) => `Your order at ${store}`,
  subjectOne: (store: string, order: string) => `Your order at ${store} (${order})`,
  hello: 'Here is the private link to your order. Anyone with this link can see your order.',
  helloMany:
    'Here are the private links to your orders. Anyone with one of these links can see that order.',
  order: (id: string, date: string) => `Order ${id}, ${date}`,
  good: (until: string, url: string) =>
    `Links in this e-mail work until ${until}. Request new ones here: ${url}`,
  notYou: 'If you didn’t request this, ignore this e-mail.',
}

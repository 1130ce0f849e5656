type Titled = readonly [heading: string, text: string]

/** Every sentence of the page that tells how buying works. */
export const how = {
  title: 'How it works',
  description: 'How buying, paying, receiving and being paid back work in this store.',
  lead: 'From checkout to code in about a minute. Here is every step, and what happens when one goes wrong.',
  steps: [
    [
      'Find it',
      'Search by brand, operator or country. The price you see is the price you pay; a coin’s network fee comes on top in your wallet.',
    ],
    [
      'Say who it is for',
      'A gift card needs the recipient’s name, a topup the phone number, an eSIM needs nothing. If a brand needs more, the form will ask.',
    ],
    [
      'Pay',
      'Choose how. Address, amount and network are shown separately, ready to be copied, beside a code to scan.',
    ],
    [
      'Receive it',
      'Your order has a page with a private link. The code shows there when you ask for it, and again whenever you come back.',
    ],
  ] as readonly Titled[],
  ways: 'Two ways to pay',
  wallet: (network: string) => `USDC on ${network}, from a browser wallet`,
  walletText:
    'Connect the wallet in your browser and sign once. It costs no gas, and what you sign is for this amount and this store only. Refunds go to the wallet that paid.',
  coins: (names: string) => `${names}, from any wallet`,
  coinsText:
    'You get an address, an amount and a code to scan. The rate is locked while the clock runs. You give an address of your own for refunds, because coins do not tell where they came from.',
  wrong: 'When something goes wrong',
  /** @param least the most, in US dollars, that is not sent back */
  wrongList: (least: string): readonly Titled[] => [
    [
      'You paid too little',
      `The page shows the rest. Pay it in time, or let the time run out and we return what you sent. Only amounts worth ${least} USD or less are kept: sending them would cost about as much.`,
    ],
    [
      'You paid too much, or twice',
      `What is over is sent to your refund address, unless it is worth ${least} USD or less: sending it would cost about as much.`,
    ],
    [
      'You paid too late',
      'We monitor the address after its time, until the date on the payment page. What arrives late, until then, is sent to your refund address. USDT that comes late is seen by nobody: write to the store, with the transaction.',
    ],
    [
      'It was not delivered',
      'Whatever the reason, the order ends as a full refund. USDC and some coins are sent back automatically, the other coins by our team; the payment page says which. The order page shows the transaction.',
    ],
    [
      'You closed the page',
      'Nothing is lost: open your private link, use the recovery code that stood beside it, or see the orders that this browser remembers.',
    ],
  ],
  goods: 'What cannot be taken back',
  goodsText:
    'A code that was shown, a phone that was credited and an eSIM that was issued are yours; nobody can unsee a code. Double-check country, brand and number before you pay.',
  private: 'What the store knows about you',
  privateText:
    'No account, no tracking, no script from elsewhere, and we don’t try to locate you. What an order needs to know is kept encrypted, and names, numbers and e-mail addresses are erased some time after its end.',
  help: 'Help',
  helpText: 'Something else? Write to',
}

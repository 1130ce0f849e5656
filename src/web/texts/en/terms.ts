/** Every sentence of the terms, as long as the operator gives none. */
export const terms = {
  title: 'Terms of sale',
  description: 'The terms on which this store sells.',
  elsewhere: 'The terms of this store are on a page of their own:',
  lead: 'These terms apply to every order in this store.',
  /** @param least the most, in US dollars, that is not sent back */
  promises: (least: string): readonly string[] => [
    'The price on the payment page is locked until you pay or it expires.',
    'Each order is charged once, even if it is submitted twice.',
    'An order that we don’t deliver is refunded in full. You don’t have to ask.',
    'Delivered goods can’t be returned: a code that was shown, a phone that was credited, an eSIM that was issued.',
    `Payments in coins that are partial, late, too large or made twice are returned to the refund address that you gave, as soon as they are known to us, except for amounts worth ${least} USD or less in all: sending them would cost about as much.`,
    'You are responsible for the details that you enter: a wrong phone number that was topped up can’t be refunded.',
  ],
  contact: 'Questions about an order:',
}

/** Every sentence of the terms, as long as the operator gives none. */
export const terms = {
  title: 'Terms of sale',
  description: 'The terms on which this store sells.',
  elsewhere: 'The terms of this store are on a page of their own:',
  placeholder:
    'The operator of this store has not published terms of its own yet. This is what the store itself does with every order:',
  promises: [
    'A price that was shown holds until it is paid or its time is over.',
    'One order is charged once.',
    'An order that is not delivered is refunded in full, without being asked for.',
    'Goods that were delivered are not taken back: a code that was shown, a phone that was credited, an eSIM that was issued.',
    'Payments in coins that are too small, too large, too late or made twice go back to the address that the buyer gave, but for what is worth 0.50 US dollars or less in all: sending it would cost about as much.',
  ] as readonly string[],
  contact: 'Questions about an order:',
}

/** Every sentence of the pages that stand in for the one that was asked for. */
export const messages = {
  offerNotFound: {
    title: 'Offer not found',
    text: 'It may no longer be on sale, or the address may be mistyped. Search the store for other offers.',
  },
  notFound: {
    title: 'Not found',
    text: 'The address may be mistyped, or the page may have moved. Search the store for everything on sale.',
  },
  orderNotFound: {
    title: 'Order not found',
    text: 'The address may be incomplete or mistyped, or the order so old that the store has archived it. Copy the whole link, or find the order by its payment at /find.',
  },
  tooMany: {
    title: 'One moment, please',
    text: 'Many requests came from your network within a minute. Wait a little, then load this page again.',
  },
  tooOften: {
    title: 'Too many attempts',
    text: 'This was tried too often within an hour. Try again later; what you have paid for stays on record.',
  },
  noReceipt: {
    title: 'No receipt available',
    text: 'A receipt says that a payment arrived, and none is known to have arrived for this order. The page of the order shows how it stands.',
  },
  notRefundable: {
    title: 'This order has no refund',
    text: 'Refunds are for orders that were paid for and could not be delivered. The page of the order shows how it stands.',
  },
  notTaken: {
    title: 'This was not accepted',
    text: 'The store cannot do this now. Go back to the page that you came from: it shows how things stand.',
  },
  notRead: {
    title: 'We couldn’t read this',
    text: 'What was sent doesn’t match the form on this page. Load the page again and send it from there.',
  },
  notNow: {
    title: 'Not just now',
    text: 'A part of the store does not answer. Come back in a minute and load the page again. If you have already paid, do not pay again.',
  },
  broken: {
    title: 'Something went wrong',
    text: 'This is our fault, and it was recorded. If you have already paid, do not pay again. Load this page again in a moment.',
  },
  home: 'Back to the store',
  search: 'Search the store',
  reference: (id: string) => `If you write to us about it, name this number: ${id}`,
  retry: (seconds: number) => `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
}

/** Every sentence of the pages that stand in for the one that was asked for. */
export const messages = {
  offerNotFound: {
    title: 'There is no such offer',
    text: 'It may have been taken off the shelf, or the address has a letter too many. Other offers are only a search away.',
  },
  notFound: {
    title: 'There is nothing here',
    text: 'The address may have a letter too many, or the page has moved. Everything on sale is only a search away.',
  },
  orderNotFound: {
    title: 'There is no such order',
    text: 'The address has a letter too many or too few. Copy the whole link, or find the order by its payment at /find.',
  },
  tooMany: {
    title: 'One moment, please',
    text: 'Many requests came from your network within a minute. Wait a little, then load this page again.',
  },
  tooManyAttempts: {
    title: 'Too many unfinished attempts',
    text: 'Too much was begun from your network and not finished. Nothing was charged. Pay what you have begun, or try again later.',
  },
  notRead: {
    title: 'This cannot be read',
    text: 'What was sent is not the form of this page. Load the page again and send it from there.',
  },
  notNow: {
    title: 'Not just now',
    text: 'A part of the store does not answer. Nothing was used up: come back in a minute and try again.',
  },
  broken: {
    title: 'Something went wrong',
    text: 'It is our fault, it was recorded, and nothing was charged. Load this page again in a moment.',
  },
  home: 'Back to the store',
  search: 'Search the store',
  reference: (id: string) => `If you write to us about it, name this number: ${id}`,
  retry: (seconds: number) => `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
}

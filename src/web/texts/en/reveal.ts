import type { Revealed } from '../../../api/buying/reveal.ts'
import type { Kind } from '../../../catalog/offer.ts'
import type { Message } from '../../frame/message-page.ts'

/** Every sentence of the pages behind a one-view link. */
export const reveal = {
  title: 'Show what was bought',
  about:
    'This link shows the goods of one order, once. Open it where you can save what it shows, then press the button.',
  label: 'Link secret',
  help: 'It is filled in from the link. If it is empty, paste the part of the link after the #.',
  show: 'Show',
  once: 'This page is shown only once. Copy what you need now; the link won’t open again.',
  again:
    'To see it again later, ask the agent that bought it for a new link, or sign in with the wallet that paid.',
  order: 'Order',
  qr: 'QR code that installs the eSIM',
  scan: 'Scan it with the camera of the phone that gets the eSIM.',
}

/** What each part of a delivery is called; the order is that of the page. */
export const deliveryNames = (kind: Kind): readonly (readonly [field: string, name: string])[] => [
  ['code', 'Code'],
  ['pin', 'PIN'],
  ['redemptionUrl', 'Where to redeem it'],
  ['msisdn', 'Number'],
  ['credited', kind === 'voucher' ? 'On the card' : 'Credited'],
  ['lpa', 'Activation code'],
  ['smdpAddress', 'SM-DP+ address'],
  ['activationCode', 'Matching id'],
  ['iccid', 'ICCID'],
  ['confirmationNumber', 'Confirmation'],
  ['expiresAt', 'Valid until'],
  ['instructions', 'How to use it'],
  ['terms', 'Terms'],
]

/** Links that show nothing: what the visitor is told, and the status that says it to machines. */
export const closedLinks: Readonly<
  Record<Exclude<Revealed['type'], 'goods'>, { readonly status: number; readonly message: Message }>
> = {
  not_yet: {
    status: 409,
    message: {
      title: 'Not delivered yet',
      text: 'The order is still under way. You can still use this link: open it again in a minute.',
    },
  },
  never: {
    status: 410,
    message: {
      title: 'There is nothing to show',
      text: 'This order was not delivered. If it was paid for, the full amount is refunded to the wallet that paid.',
    },
  },
  used: {
    status: 410,
    message: {
      title: 'This link has been used',
      text: 'Each link shows the goods once, and this one already has. If that wasn’t you, tell the seller. For a new link, ask the agent that bought it (its tool is order_status), or sign in with the wallet that paid.',
    },
  },
  expired: {
    status: 410,
    message: {
      title: 'This link has expired',
      text: 'Links work for 24 hours. For a new one, ask the agent that bought it (its tool is order_status), or sign in with the wallet that paid.',
    },
  },
  unknown: {
    status: 400,
    message: {
      title: 'This link is not from this store',
      text: 'The secret is incomplete, or not one of ours. Copy the whole link, including everything after the #, and open it again.',
    },
  },
}

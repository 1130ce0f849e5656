import type { OrderId } from '../lib/ids.ts'

interface Meaning {
  /** What is so in one book and not in another. */
  readonly what: string
  readonly act: string
}

/** Every way in which the books can differ, and what an operator does about it. */
export const differences = {
  unmatched_money: {
    what: 'A plain transfer to PAY_TO, without an authorization: no order can be meant.',
    act: 'Yours: --acknowledge it. Else ask the sender. Nothing pays it back by itself.',
  },
  payment_without_order: {
    what: 'An authorization paid PAY_TO, and no order here has it.',
    act: '--rebuild opens its order again, delivered or with its refund.',
  },
  payment_not_booked: {
    what: 'The chain has the payment of an order that counts as not paid.',
    act: 'PAYMENT_PENDING: the running store books it. Else pay it back by hand.',
  },
  payment_differs: {
    what: 'Amount, payee or transaction of a payment are not those on record.',
    act: 'Look at the transaction; this is a defect or a changed database.',
  },
  booked_not_on_chain: {
    what: 'An order counts as paid, and the chain has no such payment.',
    act: 'See that RPC_URL is the right chain; else this is a loss.',
  },
  one_payment_two_orders: {
    what: 'Two orders claim one payment.',
    act: 'Look at both; this is a defect or a changed database.',
  },
  refund_not_booked: {
    what: 'The refund of an order was paid, and the order does not count as refunded.',
    act: '--rebuild books it, so that the order is never delivered. Not where it says so.',
  },
  refund_without_order: {
    what: 'An authorization of a refund wallet paid, and no order has its nonce.',
    act: 'A lost record (--rebuild), or a stolen REFUND_KEY: stop refunds, change it, then --acknowledge.',
  },
  refund_wallet_moved: {
    what: 'A plain transfer left a refund wallet. The store never makes one.',
    act: 'If it was you, --acknowledge it. Else REFUND_KEY is stolen: stop refunds and change it.',
  },
  refund_booked_not_on_chain: {
    what: 'An order counts as refunded, and the chain has no such refund.',
    act: 'See that RPC_URL is the right chain; else pay the buyer by hand.',
  },
  refund_differs: {
    what: 'A refund paid another amount or wallet, or in another transaction than on record.',
    act: 'Look at the transaction; only the key of the refund wallet can do this.',
  },
  refunded_twice: {
    what: 'Two refunds of one order are on the chain.',
    act: 'A loss. Look at both transactions.',
  },
  delivered_and_refunded: {
    what: 'The goods were delivered, and a refund was paid as well.',
    act: 'A loss. Nothing mends it.',
  },
  supplier_charged_but_not_delivered: {
    what: 'The supplier delivered and charged what the buyer did not get.',
    act: 'A loss; ask the supplier to take it back.',
  },
  delivered_but_not_charged: {
    what: 'The buyer has goods that the supplier does not count as delivered.',
    act: 'Ask the supplier; it may charge later.',
  },
  supplier_purchase_unknown: {
    what: 'The supplier has a purchase under a reference of ours, and no order has it.',
    act: 'Beside payment_without_order: --rebuild. Alone: look for another store on this account.',
  },
  supplier_bought_twice: {
    what: 'The supplier has two purchases under one reference.',
    act: 'A loss; show the supplier both.',
  },
  ledger_differs: {
    what: 'The entries of an order do not say what its state says.',
    act: 'A changed database: the store cannot write this.',
  },
  checkout_without_order: {
    what: 'A checkout was paid and has decided to become an order, and there is no such order.',
    act: 'If the running store does not open it: look at its errors, else pay it back by hand.',
  },
  order_without_checkout: {
    what: 'An order was paid through an invoice, and no checkout has decided so.',
    act: 'A changed database: the store cannot write this.',
  },
  checkout_order_differs: {
    what: 'An order and the checkout that became it differ in amount, invoice or address.',
    act: 'Look at both; this is a defect or a changed database.',
  },
  coins_not_booked: {
    what: 'The processor has confirmed more for a closed invoice than is on record.',
    act: 'It came too late to be watched for: send it back from the processor by hand.',
  },
  coins_booked_not_found: {
    what: 'The processor has confirmed less for an invoice than is on record.',
    act: 'Look at the invoice there: a payment vanished or was changed. Else this is a loss.',
  },
  invoice_unknown: {
    what: 'The processor was paid for an invoice of a store, and no checkout on record has it.',
    act: 'A lost record. Where neither the supplier nor a payout has its order, ask the buyer for an address and pay it back by hand.',
  },
  payout_not_booked: {
    what: 'A refund or return in a coin was paid out, and counts as failed.',
    act: 'npm run refunds -- retry books it, or -- paid where the processor names no transaction.',
  },
  payout_booked_not_found: {
    what: 'A refund or return in a coin counts as paid, and neither the processor nor a note has it.',
    act: 'Look for its transaction on the chain of the coin; else pay the buyer by hand.',
  },
  payout_differs: {
    what: 'A payout has another amount, address or transaction than on record.',
    act: 'Look at it in the processor; this is a defect or a changed database.',
  },
  paid_out_twice: {
    what: 'A refund or return in a coin was paid out twice.',
    act: 'A loss. Look at both transactions.',
  },
  payout_unknown: {
    what: 'The processor has a payout under a name of a store, and nothing on record is owed it.',
    act: 'A lost record, or a stolen API key of the processor: look at the address, change the key.',
  },
  checkout_ledger_differs: {
    what: 'The entries of a checkout do not say what its state says.',
    act: 'A changed database: the store cannot write this.',
  },
} as const satisfies Record<string, Meaning>

export type DifferenceCode = keyof typeof differences

/** What a finding is about. Amounts are atomic USDC. */
export interface About {
  readonly order?: OrderId
  readonly transaction?: string
  readonly reference?: string
  /** What is on record here. */
  readonly onRecord?: bigint
  /** What the other book has. */
  readonly found?: bigint
  /** What makes this one special, in a sentence. */
  readonly detail?: string
}

export interface Difference extends About {
  readonly code: DifferenceCode
}

/** Looks different now and is expected to agree soon, because somebody still works on it. */
export interface Open extends About {
  readonly waitsFor: 'safe_block' | 'store' | 'supplier'
}

export type Finding =
  | ({ readonly type: 'difference' } & Difference)
  | ({ readonly type: 'open' } & Open)

export function differs(code: DifferenceCode, about: About): Finding {
  return { type: 'difference', code, ...about }
}

export function open(waitsFor: Open['waitsFor'], about: About): Finding {
  return { type: 'open', waitsFor, ...about }
}

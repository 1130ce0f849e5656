import type { OrderId } from '../lib/ids.ts'

export const differences = {
  unmatched_money: {
    what: 'A plain transfer to PAY_TO, without an authorization. It belongs to no order.',
    act: 'If it is yours, --acknowledge it. Else ask the sender. The store does not pay it back.',
  },
  payment_without_order: {
    what: 'An authorization paid PAY_TO, and no order on record has it.',
    act: '--rebuild opens its order again, as delivered or with its refund.',
  },
  payment_not_booked: {
    what: 'The chain has the payment of an order that is unpaid on record.',
    act: 'If the order is PAYMENT_PENDING, the running store books it. Else pay it back by hand.',
  },
  payment_differs: {
    what: 'A payment has another amount, payee or transaction than on record.',
    act: 'Look at the transaction. This is a defect or a changed database.',
  },
  booked_not_on_chain: {
    what: 'An order is paid on record, and the chain has no such payment.',
    act: 'Check that RPC_URL is the right chain. If it is, this is a loss.',
  },
  one_payment_two_orders: {
    what: 'Two orders claim one payment.',
    act: 'Look at both. This is a defect or a changed database.',
  },
  refund_not_booked: {
    what: 'The chain has the refund of an order that is not refunded on record.',
    act: '--rebuild books it, so that the order is never delivered. It says where it cannot.',
  },
  refund_without_order: {
    what: 'An authorization of a refund wallet sent money, and no order has its nonce.',
    act: 'A lost record (--rebuild), or a stolen REFUND_KEY: stop refunds, change it, then --acknowledge.',
  },
  refund_wallet_moved: {
    what: 'A plain transfer left a refund wallet. The store never makes one.',
    act: 'If it was you, --acknowledge it. Else REFUND_KEY is stolen: stop refunds and change it.',
  },
  refund_booked_not_on_chain: {
    what: 'An order is refunded on record, and the chain has no such refund.',
    act: 'Check that RPC_URL is the right chain. If it is, pay the buyer by hand.',
  },
  refund_differs: {
    what: 'A refund has another amount, payee or transaction than on record.',
    act: 'Look at the transaction. Only the key of the refund wallet can do this.',
  },
  goodwill_not_booked: {
    what: 'The chain has goodwill of an order that is not paid on record.',
    act: 'If it is on record as failed or dropped, retry it; if the record is older, give the same again. Either books it and pays nothing twice. Otherwise REFUND_KEY is stolen.',
  },
  goodwill_booked_not_on_chain: {
    what: 'Goodwill is paid on record, and the chain has no such transfer.',
    act: 'Check that RPC_URL is the right chain. If it is, pay the buyer by hand.',
  },
  goodwill_differs: {
    what: 'Goodwill has another amount, payee or transaction than on record.',
    act: 'Look at the transaction. Only the key of the refund wallet can do this.',
  },
  refunded_twice: {
    what: 'Two refunds of one order are on the chain.',
    act: 'This is a loss. Look at both transactions.',
  },
  delivered_and_refunded: {
    what: 'The goods were delivered, and a refund was paid as well.',
    act: 'This is a loss.',
  },
  supplier_charged_but_not_delivered: {
    what: 'The supplier delivered and charged goods that the buyer did not get.',
    act: 'This is a loss. Ask the supplier to take the goods back.',
  },
  delivered_but_not_charged: {
    what: 'The buyer has goods that the supplier does not count as delivered.',
    act: 'Ask the supplier. It may charge later.',
  },
  supplier_purchase_unknown: {
    what: 'The supplier has a purchase under a reference of the store, and no order has it.',
    act: 'With payment_without_order: --rebuild. Else look for another store on this account.',
  },
  supplier_bought_twice: {
    what: 'The supplier has two purchases under one reference.',
    act: 'This is a loss. Show the supplier both.',
  },
  charge_differs: {
    what: 'The supplier charges another amount for delivered goods than it said when it delivered them.',
    act: 'Ask the supplier. The books have what is on record.',
  },
  ledger_differs: {
    what: 'The entries of an order contradict its state.',
    act: 'Somebody changed the database: the store cannot write this.',
  },
  checkout_without_order: {
    what: 'A checkout was paid and allocated to an order that does not exist.',
    act: 'If the running store does not open the order, look at its errors, or pay the buyer back by hand.',
  },
  order_without_checkout: {
    what: 'An order was paid through an invoice, and no checkout is allocated to it.',
    act: 'Somebody changed the database: the store cannot write this.',
  },
  checkout_order_differs: {
    what: 'An order and its checkout differ in amount, invoice or address.',
    act: 'Look at both. This is a defect or a changed database.',
  },
  coins_not_booked: {
    what: 'The processor has confirmed more for a closed invoice than is on record.',
    act: 'The payment came after the store stopped watching. Send it back from the processor by hand.',
  },
  coins_booked_not_found: {
    what: 'The processor has confirmed less for an invoice than is on record.',
    act: 'Look at the invoice there: a payment vanished or was changed. This may be a loss.',
  },
  invoice_unknown: {
    what: 'The processor was paid for an invoice of the store, and no checkout on record has it.',
    act: 'The record is lost. If neither the supplier nor a payout has its order, ask the buyer for an address and pay it back by hand.',
  },
  payout_not_booked: {
    what: 'A refund, return or goodwill in a coin was paid out, and is failed on record.',
    act: 'kiosk402 refund retry books it, or kiosk402 refund paid if the processor names no transaction.',
  },
  payout_booked_not_found: {
    what: 'A refund, return or goodwill in a coin is paid on record, and neither the processor nor a note has it.',
    act: 'Look for its transaction on the chain of the coin. If there is none, pay the buyer by hand.',
  },
  payout_differs: {
    what: 'A payout has another amount, address or transaction than on record.',
    act: 'Look at it in the processor. This is a defect or a changed database.',
  },
  paid_out_twice: {
    what: 'A refund, return or goodwill in a coin was paid out twice.',
    act: 'This is a loss. Look at both payouts, which may be in one transaction.',
  },
  payout_unknown: {
    what: 'The processor has a payout under a name of the store, and the record has no such debt.',
    act: 'The record is lost, or the API key of the processor is stolen. Look at the address, change the key.',
  },
  checkout_ledger_differs: {
    what: 'The entries of a checkout contradict its state.',
    act: 'Somebody changed the database: the store cannot write this.',
  },
} as const satisfies Record<string, Readonly<Record<'what' | 'act', string>>>

export type DifferenceCode = keyof typeof differences

/** Amounts are atomic USDC. */
export interface About {
  readonly order?: OrderId
  readonly transaction?: string
  readonly reference?: string
  readonly onRecord?: bigint
  readonly found?: bigint
  readonly detail?: string
}

export interface Difference extends About {
  readonly code: DifferenceCode
}

/** Expected to disappear, because the work on it goes on. */
export interface Open extends About {
  readonly waitsFor: 'safe_block' | 'store' | 'supplier'
}

export type Finding =
  | ({ readonly type: 'difference' } & Difference)
  | ({ readonly type: 'open' } & Open)

export function differs(code: DifferenceCode, about: About): Finding {
  return { type: 'difference', code, ...about }
}

export function openItem(waitsFor: Open['waitsFor'], about: About): Finding {
  return { type: 'open', waitsFor, ...about }
}

import type { Usdc } from '../primitives/money.ts'

/**
 * What a buyer hands over to pay: one case per payment rail. A rail that takes invoices in other
 * currencies is one more case here and one more entry in `Rails`.
 */
export type Tender = X402Tender

/** A signed EIP-3009 authorization: it moves this amount once, to this address, before its end. */
export interface X402Tender {
  readonly rail: 'x402'
  /** CAIP-2: "eip155:8453". */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly payer: string
  readonly amount: Usdc
  readonly nonce: string
  /** Chain time, in seconds. */
  readonly validAfter: number
  readonly validBefore: number
  readonly signature: string
  /** The first block in which it can have landed. */
  readonly sinceBlock: number
}

/** Money that has arrived, proven. */
export interface Receipt {
  readonly rail: Tender['rail']
  /** Where anyone can check it: the transaction hash. */
  readonly transaction: string
  readonly block: number
}

/** Names a payment everywhere and for ever: a payer can use a nonce once (decisions 4). */
export function paymentKeyOf(tender: Pick<Tender, 'network' | 'asset' | 'payer' | 'nonce'>) {
  return [tender.network, tender.asset, tender.payer, tender.nonce].join(':').toLowerCase()
}

/** A payout that is signed and on record, so that sending it twice still pays once. */
export interface SignedRefund {
  readonly rail: Tender['rail']
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  readonly nonce: string
  /** Chain time, in seconds. */
  readonly validBefore: number
  readonly signature: string
  readonly sinceBlock: number
}

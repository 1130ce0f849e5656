import { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements, VerifyResponse } from '@x402/core/types'
import { type Hex, isHash, type TransactionReceipt } from 'viem'
import type { X402Payment } from '../../payments/payment.ts'
import type { Listing } from '../../payments/ports.ts'
import { termsOf } from '../../payments/terms.ts'
import type { ChainNode } from './clients.ts'
import { authHeaders, type FacilitatorKey } from './facilitator-key.ts'
import type { Sending } from './sending.ts'
import type { SignedTransfer } from './transfer.ts'

/** Who checks payments and submits them: ourselves with our own gas, or a hosted service. */
export interface Facilitator {
  /** Throws when it cannot tell whether the payment is good. */
  verify(tender: X402Payment): Promise<VerifyResponse>
  /** Submits a payment that was verified. Undefined if its transaction is not known. */
  settle(tender: X402Payment, settling: Settling): Promise<Submitted | undefined>
}

export interface Settling extends Pick<Sending, 'onWasted'> {
  readonly listing?: Listing | undefined
}

export interface Submitted {
  /** A hint of where to look, not a proof. */
  readonly hash: Hex
  /** The receipt, if our own node has returned it; its logs can prove the transfer. */
  readonly receipt?: TransactionReceipt | undefined
  /** Whether a hosted facilitator reports that it landed. */
  readonly isSaidToHaveLanded?: boolean
}

/** Longer than a few blocks, much shorter than an order's lease; after it, the logs are read. */
export const confirmationTimeoutMs = 15_000

export function hostedFacilitator(
  node: ChainNode,
  url: string,
  key: FacilitatorKey | undefined,
): Facilitator {
  const hosted = new HTTPFacilitatorClient({
    url,
    timeoutMs: confirmationTimeoutMs,
    ...(key && { createAuthHeaders: authHeaders(url, key) }),
  })
  return {
    verify: (tender) => hosted.verify(payloadOf(node, tender), requirementsOf(node, tender)),

    async settle(tender, { listing }) {
      const payload = { ...payloadOf(node, tender), ...(listing as Partial<PaymentPayload>) }
      const settled = await hosted.settle(payload, requirementsOf(node, tender))
      const submitted = submittedIn(settled.transaction)
      return submitted && { ...submitted, isSaidToHaveLanded: settled.success }
    },
  }
}

/** The transfer that the payer signed, in the terms of the token. */
export function transferOf(tender: X402Payment): SignedTransfer {
  return { ...tender, from: tender.payer, to: tender.payTo }
}

/** Undefined if the text is not a transaction hash; then only the logs tell. */
export function submittedIn(transaction: string): Submitted | undefined {
  return isHash(transaction) ? { hash: transaction } : undefined
}

export function requirementsOf({ network }: ChainNode, tender: X402Payment): PaymentRequirements {
  return termsOf(tender.amount, { network, payTo: tender.payTo }) as PaymentRequirements
}

export function payloadOf(node: ChainNode, tender: X402Payment): PaymentPayload {
  return {
    x402Version: 2,
    accepted: requirementsOf(node, tender),
    payload: {
      signature: tender.signature,
      authorization: {
        from: tender.payer,
        to: tender.payTo,
        value: tender.amount.toString(),
        validAfter: tender.validAfter.toString(),
        validBefore: tender.validBefore.toString(),
        nonce: tender.nonce,
      },
    },
  }
}

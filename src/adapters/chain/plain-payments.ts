import { type Hex, isAddressEqual } from 'viem'
import type { Network } from '../../payments/networks.ts'
import type { X402Payment } from '../../payments/payment.ts'
import type { Chain } from './clients.ts'
import { transferOf } from './facilitator.ts'
import { isSilence } from './faults.ts'
import { signerOf } from './signer.ts'
import { gasOf, maxSettlementGas } from './transfer.ts'
import { authorizationHash } from './typed-data.ts'

/**
 * Checks the common payment with one call to the node. The signature by the payer's own key is verified
 * here. Anything else that can be wrong (the balance, the nonce, the times, a pause, a blacklist, code of
 * the payer) makes the token refuse the estimate, which is made for the very call that will be sent.
 *
 * @returns the gas it takes, or undefined if it is not plainly good; the caller finds out why
 * @throws when the node does not say
 */
export async function gasOfPlain(chain: Chain, tender: X402Payment): Promise<bigint | undefined> {
  if (!isSignedByPayer(chain.network, tender)) return undefined
  try {
    const gas = await gasOf(chain, transferOf(tender))
    return gas > maxSettlementGas ? undefined : gas
  } catch (error) {
    if (isSilence(error)) throw error
    return undefined
  }
}

/** Recent results: a signature is verified before its payment is reserved, and again when it is checked. */
const found = new Map<string, boolean>()
const maxFound = 1_000

/** Whether the payer's own key has signed. */
export function isSignedByPayer(network: Network, tender: X402Payment): boolean {
  const transfer = transferOf(tender)
  const { from, to, amount, validAfter, validBefore, nonce, signature } = transfer
  const key = [network.chainId, from, to, amount, validAfter, validBefore, nonce, signature].join()
  const known = found.get(key)
  if (known !== undefined) return known
  const [oldest] = found.keys()
  if (found.size >= maxFound && oldest !== undefined) found.delete(oldest)
  const signer = signerOf(authorizationHash(network, transfer), signature as Hex)
  const isSigned = signer !== undefined && isAddressEqual(signer, from as Hex)
  found.set(key, isSigned)
  return isSigned
}

/** Gas estimates of payments that were found good a moment ago, each for one settlement. */
export interface Estimates {
  keep(key: string, gas: bigint): void
  /** Removes the estimate, so a resend is estimated again. */
  take(key: string): bigint | undefined
}

/** Between the check and the settlement there is one database statement. */
const maxEstimateMs = 2_000
/** Bounds memory: the oldest, whose settlement never came, are dropped. */
const maxEstimates = 10_000

export function createEstimates(): Estimates {
  const kept = new Map<string, { readonly gas: bigint; readonly at: number }>()
  return {
    keep(key, gas) {
      const [oldest] = kept.keys()
      if (kept.size >= maxEstimates && oldest !== undefined) kept.delete(oldest)
      kept.set(key, { gas, at: performance.now() })
    },
    take(key) {
      const estimate = kept.get(key)
      kept.delete(key)
      return estimate && performance.now() - estimate.at < maxEstimateMs ? estimate.gas : undefined
    },
  }
}

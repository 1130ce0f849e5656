import { x402Facilitator } from '@x402/core/facilitator'
import type { Network as NetworkId, VerifyResponse } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { type Hex, parseErc6492Signature } from 'viem'
import { paymentKeyOf, type X402Payment } from '../../payments/payment.ts'
import type { Chain } from './clients.ts'
import {
  confirmationTimeoutMs,
  type Facilitator,
  payloadOf,
  requirementsOf,
  submittedIn,
  transferOf,
} from './facilitator.ts'
import { isTooDear } from './network-fees.ts'
import { type Observed, observedSigner } from './observed-signer.ts'
import { createEstimates, gasOfPlain } from './plain-payments.ts'
import type { Sending } from './sending.ts'
import { costOf, costOfDeployment, limitOf, sendTransfer } from './transfer.ts'
import { ownReasons } from './verdicts.ts'

/** The suffix of a signature of a wallet that has yet to be deployed (ERC-6492). */
const undeployedMark = '6492'.repeat(16)

/**
 * Checks a payment signed by its payer's own key directly. The x402 package verifies all others, and
 * names what is wrong with any. Its settlement verifies once more, which the token does anyway, so we
 * send the transfer ourselves unless a wallet must be deployed first.
 *
 * @param factories smart-wallet factories that may be called to deploy a payer's wallet; none by
 *   default, because each deployment is at our expense
 * @param withinMs how long to wait for a transaction to be in a block
 */
export function ownFacilitator(
  chain: Chain,
  factories: readonly string[],
  withinMs = confirmationTimeoutMs,
): Facilitator {
  const estimates = createEstimates()
  // Created for each call: a shared one would remember what it sent, and wait for what the chain has dropped.
  const packaged = (observed: Observed, sending?: Sending) => {
    const scheme = new ExactEvmScheme(observedSigner(chain, observed, sending), {
      eip6492AllowedFactories: [...factories],
    })
    return new x402Facilitator().register(chain.network.id as NetworkId, scheme)
  }
  return {
    async verify(tender) {
      const gas = await gasOfPlain(chain, tender)
      if (gas !== undefined) {
        if (await isTooDear(chain, tender, limitOf(gas))) return invalid('too_dear')
        estimates.keep(paymentKeyOf(tender), gas)
        return { isValid: true, payer: tender.payer }
      }
      const observed: Observed = { isContract: false, silence: undefined }
      const verified = await packaged(observed).verify(
        payloadOf(chain, tender),
        requirementsOf(chain, tender),
      )
      if (observed.silence) throw observed.silence
      return verified.isValid ? withinCost(chain, tender, observed, verified) : verified
    },

    async settle(tender, { onWasted }) {
      const sending = { withinMs, onWasted }
      if (!tender.signature.toLowerCase().endsWith(undeployedMark)) {
        const estimated = estimates.take(paymentKeyOf(tender))
        return sendTransfer(chain, transferOf(tender), sending, estimated)
      }
      const observed: Observed = { isContract: false, silence: undefined }
      const settled = await packaged(observed, sending).settle(
        payloadOf(chain, tender),
        requirementsOf(chain, tender),
      )
      return submittedIn(settled.transaction)
    },
  }
}

/**
 * A contract decides what its signature check costs us, and a payer what its deployment does, so the cost is
 * measured before a payment is accepted.
 */
async function withinCost(
  chain: Chain,
  tender: X402Payment,
  { isContract }: Observed,
  verified: VerifyResponse,
): Promise<VerifyResponse> {
  const { address: to, data, signature } = parseErc6492Signature(tender.signature as Hex)
  const cost =
    isContract || !to || !data
      ? await costOf(chain, { ...transferOf(tender), signature })
      : await costOfDeployment(chain, tender, { to, data })
  return cost === 'bearable' ? verified : invalid(cost)
}

function invalid(reason: keyof typeof ownReasons): VerifyResponse {
  return { isValid: false, invalidReason: ownReasons[reason] }
}

import { x402Facilitator } from '@x402/core/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type {
  Network as NetworkId,
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  VerifyResponse,
} from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { publicActions } from 'viem'
import type { Chain } from './clients.ts'

/** Who checks payments and submits them: ourselves with our own gas, or a hosted service. */
export interface Facilitator {
  verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<VerifyResponse>
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse>
}

/** Longer than a few blocks, much shorter than an order's lease; after it the logs are asked. */
const confirmationTimeoutMs = 15_000

/**
 * @param factories smart-wallet factories that may be called to deploy a payer's wallet; none by
 *   default, because each deployment is at our expense
 */
export function ownFacilitator(chain: Chain, factories: readonly string[]): Facilitator {
  const client = chain.sender.extend(publicActions)
  const signer = toFacilitatorEvmSigner(
    {
      address: chain.sender.account.address,
      getCode: client.getCode,
      readContract: client.readContract as never,
      verifyTypedData: client.verifyTypedData as never,
      writeContract: client.writeContract as never,
      sendTransaction: client.sendTransaction as never,
      waitForTransactionReceipt: client.waitForTransactionReceipt,
    },
    { confirmationTimeoutMs },
  )
  const scheme = new ExactEvmScheme(signer, { eip6492AllowedFactories: [...factories] })
  return new x402Facilitator().register(chain.network.id as NetworkId, scheme)
}

export function hostedFacilitator(url: string): Facilitator {
  return new HTTPFacilitatorClient({ url, timeoutMs: confirmationTimeoutMs })
}

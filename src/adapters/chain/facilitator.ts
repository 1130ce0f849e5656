import { x402Facilitator } from '@x402/core/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type {
  Network as NetworkId,
  PaymentPayload,
  PaymentRequirements,
  VerifyResponse,
} from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { type Hex, publicActions } from 'viem'
import { paymentKeyOf, type X402Tender } from '../../payments/payment.ts'
import { termsOf } from '../../payments/terms.ts'
import type { Chain } from './clients.ts'
import { type SignedTransfer, sendTransfer } from './transfer.ts'

/** Who checks payments and submits them: ourselves with our own gas, or a hosted service. */
export interface Facilitator {
  verify(tender: X402Tender): Promise<VerifyResponse>
  /** Submits a payment that was verified. The hash is a hint of where to look, not a proof. */
  settle(tender: X402Tender): Promise<Hex | undefined>
}

/** Longer than a few blocks, much shorter than an order's lease; after it the logs are asked. */
const confirmationTimeoutMs = 15_000

/** An honest payment is reverted when it meets another transaction in its block: hardly ever twice. */
const revertsMost = 3
/** Payments that are remembered for their reverts: a bound on memory. */
const remembersMost = 10_000

/** All that is asked of the token's code is whether there is any. */
const anyCode: Hex = '0x00'

/** Ends a signature of a wallet that has yet to be deployed (ERC-6492). */
const undeployedMark = '6492'.repeat(16)

/**
 * The package verifies. It would also settle, but verifies once more before that: one more round
 * trip and two more milliseconds of arithmetic for what the token checks anyway. So a plain
 * authorization is sent directly, and only a wallet that must be deployed first goes through it.
 *
 * @param factories smart-wallet factories that may be called to deploy a payer's wallet; none by
 *   default, because each deployment is at our expense
 */
export function ownFacilitator(chain: Chain, factories: readonly string[]): Facilitator {
  const send = sendingOnly(chain, revertsMost)
  return {
    async verify(tender) {
      const unheard: unknown[] = []
      const packaged = packagedFacilitator(chain, factories, (error) => unheard.push(error))
      const said = await packaged.verify(payloadOf(chain, tender), requirementsOf(chain, tender))
      if (!said.isValid && unheard.length > 0) throw unheard[0]
      return said
    },

    async settle(tender) {
      if (!tender.signature.toLowerCase().endsWith(undeployedMark)) {
        return send(tender)
      }
      const packaged = packagedFacilitator(chain, factories, () => undefined)
      const settled = await packaged.settle(payloadOf(chain, tender), requirementsOf(chain, tender))
      return hashIn(settled.transaction)
    },
  }
}

/**
 * The package's facilitator for one payment. Where the node does not say what code a payer has, the
 * package calls the signature wrong; so whoever asks is told, and can take such a no for an unknown.
 */
function packagedFacilitator(
  chain: Chain,
  factories: readonly string[],
  unanswered: (error: unknown) => void,
): x402Facilitator {
  const client = chain.sender.extend(publicActions)
  const signer = toFacilitatorEvmSigner(
    {
      address: chain.sender.account.address,
      getCode: codeOf(chain, unanswered),
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

/**
 * The code of an address, without asking the node about our own token: the store looked at that when
 * it started. The package asks for it beside the payer's, and leaves the failure of the one to nobody
 * when the other has failed before; that would end the process whenever the node is away.
 */
function codeOf({ network, reader }: Chain, unanswered: (error: unknown) => void) {
  const token = network.usdc.toLowerCase()
  return async ({ address }: { readonly address: Hex }): Promise<Hex | undefined> => {
    if (address.toLowerCase() === token) return anyCode
    try {
      return await reader.getCode({ address })
    } catch (error) {
      unanswered(error)
      throw error
    }
  }
}

/**
 * Sends payments, but none again that was reverted so often. An estimate finds nearly everything
 * that would be reverted, for nothing; a smart wallet, however, can say yes to every estimate and no
 * in every block, and would have us pay for that until the authorization ends. Anybody may still
 * submit such a payment, and the logs tell.
 */
function sendingOnly(chain: Chain, most: number) {
  const reverts = new Map<string, number>()
  return async (tender: X402Tender): Promise<Hex | undefined> => {
    const key = paymentKeyOf(tender)
    const before = reverts.get(key) ?? 0
    if (before >= most) return undefined
    const sent = await sendTransfer(chain, transferOf(tender), confirmationTimeoutMs)
    if (!sent.isReverted) return sent.hash
    reverts.set(key, before + 1)
    const [oldest] = reverts.keys()
    if (reverts.size > remembersMost && oldest !== undefined) reverts.delete(oldest)
    return sent.hash
  }
}

export function hostedFacilitator(chain: Chain, url: string): Facilitator {
  const hosted = new HTTPFacilitatorClient({ url, timeoutMs: confirmationTimeoutMs })
  return {
    verify: (tender) => hosted.verify(payloadOf(chain, tender), requirementsOf(chain, tender)),

    async settle(tender) {
      const settled = await hosted.settle(payloadOf(chain, tender), requirementsOf(chain, tender))
      return hashIn(settled.transaction)
    },
  }
}

/** What the payer signed, as the token takes it. */
export function transferOf(tender: X402Tender): SignedTransfer {
  return { ...tender, from: tender.payer, to: tender.payTo }
}

function hashIn(transaction: string): Hex | undefined {
  return transaction === '' ? undefined : (transaction as Hex)
}

function requirementsOf({ network }: Chain, tender: X402Tender): PaymentRequirements {
  return termsOf(tender.amount, { network, payTo: tender.payTo }) as PaymentRequirements
}

function payloadOf(chain: Chain, tender: X402Tender): PaymentPayload {
  return {
    x402Version: 2,
    accepted: requirementsOf(chain, tender),
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

import { x402Facilitator } from '@x402/core/facilitator'
import type { Network as NetworkId, VerifyResponse } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { encodeFunctionData, type Hex, parseErc6492Signature } from 'viem'
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
import { isSilence } from './faults.ts'
import { type Sending, sendCall } from './sending.ts'
import {
  costOf,
  costOfDeployment,
  createEstimates,
  gasOfPlain,
  isTooDear,
  limitOf,
  maxDeploymentGas,
  maxSettlementGas,
  sendTransfer,
} from './transfer.ts'
import { ownReasons } from './verdicts.ts'

/** The suffix of a signature of a wallet that has yet to be deployed (ERC-6492). */
const undeployedMark = '6492'.repeat(16)

/**
 * Checks a payment signed by its payer's own key directly. The x402 package verifies all others, and names what is
 * wrong with any. We send the transfer ourselves unless a wallet must be deployed first.
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

type Signer = ReturnType<typeof toFacilitatorEvmSigner>

/** What the x402 package saw while it looked at one payment, and does not report. */
interface Observed {
  isContract: boolean
  /** The error of the first call that the node did not answer. */
  silence: Error | undefined
}

/** Ten times what a settlement may cost. Gas that a contract burns here costs only the node's time. */
const maxSimulationGas = 10n * maxSettlementGas

/**
 * Stands in for the token's code. The package asks only whether there is any, and the store has checked
 * that at its start. The package asks for it in parallel with the payer's code, and nobody handles the
 * second of two failures: that would end the process whenever the node is down.
 */
const anyCode: Hex = '0x00'

/** The calls in which code of the payer runs. */
const payersCode = ['isValidSignature', 'transferWithAuthorization']

/**
 * The signer through which the package calls and sends. The package takes a node's silence for a
 * refusal: no code, a bad signature, a transfer that would fail. The silence is noted in `observed`, so
 * that nobody is refused for it. What is sent has a gas limit, and what is wasted is reported.
 *
 * @param sending undefined while a payment is only verified, when nothing may be sent
 */
function observedSigner(chain: Chain, observed: Observed, sending?: Sending): Signer {
  const { gasAccount, network, reader } = chain
  const noting = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked
    } catch (error) {
      if (isSilence(error)) observed.silence ??= error as Error
      throw error
    }
  }
  const send = async (call: { to: Hex; data: Hex }, most: bigint) => {
    if (sending === undefined) throw new Error('To verify a payment takes no transaction.')
    const gas = await reader.estimateGas({ ...call, account: gasAccount.address })
    if (gas > most) throw new Error(`The transaction would cost ${gas} gas.`)
    return sendCall(chain, { ...call, gas }, sending)
  }
  return toFacilitatorEvmSigner({
    address: gasAccount.address,
    async getCode({ address }) {
      if (address.toLowerCase() === network.usdc.toLowerCase()) return anyCode
      const code = await noting(reader.getCode({ address }))
      if (code !== undefined) observed.isContract = true
      return code
    },
    readContract: (args) => {
      const gas = payersCode.includes(args.functionName) ? { gas: maxSimulationGas } : {}
      return noting(reader.readContract({ ...args, ...gas } as never))
    },
    verifyTypedData: reader.verifyTypedData as never,
    async writeContract({ address, ...call }) {
      const data = encodeFunctionData(call)
      return (await send({ to: address, data }, maxSettlementGas)).hash
    },
    async sendTransaction(call) {
      const { hash, receipt } = await send(call, maxDeploymentGas)
      // Deploying a wallet costs gas and moves no money. `sendCall` has reported a revert.
      if (receipt?.status === 'success') sending?.onWasted()
      return hash
    },
    // `sendCall` has already waited for it.
    waitForTransactionReceipt: ({ hash }) => reader.getTransactionReceipt({ hash }),
  })
}

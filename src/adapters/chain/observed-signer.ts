import { toFacilitatorEvmSigner } from '@x402/evm'
import { encodeFunctionData, type Hex } from 'viem'
import type { Chain } from './clients.ts'
import { isSilence } from './faults.ts'
import { type Sending, sendCall } from './sending.ts'
import { maxSettlementGas } from './transfer.ts'

type Signer = ReturnType<typeof toFacilitatorEvmSigner>

/** What the package did not tell of what it saw while it looked at one payment. */
export interface Observed {
  /** The payer has code. */
  isContract: boolean
  /** The first question that the node did not answer. */
  silence: Error | undefined
}

/** Several times what a settlement may cost. What a contract burns here costs time at the node. */
const maxSimulationGas = 10n * maxSettlementGas
/** Deploying a common wallet takes a third of it. Which data a factory is called with, the payer chooses. */
const maxDeploymentGas = 1_000_000n

/**
 * All that is asked of the token's code is whether there is any, and the store looked at that when it
 * started. The package asks for it beside the payer's, and leaves the failure of the one to nobody
 * when the other has failed before: that would end the process whenever the node is away.
 */
const anyCode: Hex = '0x00'

/** The calls in which code of the payer runs. */
const payersCode = ['isValidSignature', 'transferWithAuthorization']

/**
 * What the package asks and sends through. It takes a node's silence for a no: no code, a bad
 * signature, a transfer that would fail. Here is noted that it was a silence, so that nobody is
 * refused for it. What it sends has a bound to its cost, and what it wastes is told.
 *
 * @param sending undefined while a payment is only verified, for which nothing is sent
 */
export function observedSigner(chain: Chain, observed: Observed, sending?: Sending): Signer {
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
      // A wallet that is there moves nothing yet.
      if (receipt) sending?.onWasted()
      return hash
    },
    // Whoever sent it has waited already.
    waitForTransactionReceipt: ({ hash }) => reader.getTransactionReceipt({ hash }),
  })
}

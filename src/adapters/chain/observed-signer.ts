import { toFacilitatorEvmSigner } from '@x402/evm'
import { encodeFunctionData, type Hex } from 'viem'
import type { Chain } from './clients.ts'
import { isSilence } from './faults.ts'
import { type Sending, sendCall } from './sending.ts'
import { maxDeploymentGas, maxSettlementGas } from './transfer.ts'

type Signer = ReturnType<typeof toFacilitatorEvmSigner>

/** What the x402 package saw while it looked at one payment, and does not report. */
export interface Observed {
  /** The payer has code. */
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
      // Deploying a wallet costs gas and moves no money. `sendCall` has reported a revert.
      if (receipt?.status === 'success') sending?.onWasted()
      return hash
    },
    // `sendCall` has already waited for it.
    waitForTransactionReceipt: ({ hash }) => reader.getTransactionReceipt({ hash }),
  })
}

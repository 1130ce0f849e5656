import { type Hex, parseAbi, parseErc6492Signature } from 'viem'
import type { X402Payment } from '../../payments/payment.ts'
import type { ChainNode } from './clients.ts'
import { transferOf } from './facilitator.ts'
import { isSilence } from './faults.ts'
import { isSignedByPayer } from './plain-payments.ts'
import { authorizationHash } from './typed-data.ts'

const walletAbi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** What a wallet with code answers to a signature of its own (ERC-1271). */
const valid = '0x1626ba7e'

/**
 * Whether the payer has signed: its own key, which is arithmetic, or its code, which one question to
 * the node tells.
 *
 * @throws when the node does not say
 */
export async function isSigned(
  { network, reader }: ChainNode,
  tender: X402Payment,
): Promise<boolean> {
  if (isSignedByPayer(network, tender)) return true
  const { signature } = parseErc6492Signature(tender.signature as Hex)
  const hash = authorizationHash(network, transferOf(tender))
  const question = { abi: walletAbi, functionName: 'isValidSignature' } as const
  try {
    const address = tender.payer as Hex
    return (await reader.readContract({ ...question, address, args: [hash, signature] })) === valid
  } catch (error) {
    if (isSilence(error)) throw error
    return false
  }
}

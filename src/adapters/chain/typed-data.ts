import { concatHex, domainSeparator, type Hex, hashStruct, keccak256 } from 'viem'
import type { Network } from '../../payments/networks.ts'
import { transferTypes } from './token.ts'
import type { SignedTransfer } from './transfer.ts'

const separators = new Map<Network, Hex>()

/** The EIP-712 domain separator of a network's USDC, cached because it is half of the work of hashing a payment. */
export function separatorOf(network: Network): Hex {
  const known = separators.get(network)
  if (known !== undefined) return known
  const { chainId, usdc, usdcDomain } = network
  const domain = { ...usdcDomain, chainId, verifyingContract: usdc as Hex }
  const separator = domainSeparator({ domain })
  separators.set(network, separator)
  return separator
}

/** What a payer signs (EIP-712) to let a transfer be made (EIP-3009). */
export function authorizationHash(
  network: Network,
  transfer: Omit<SignedTransfer, 'signature'>,
): Hex {
  const { from, to, amount: value, validAfter, validBefore, nonce } = transfer
  const data = {
    from: from as Hex,
    to: to as Hex,
    value,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce as Hex,
  }
  const struct = hashStruct({
    data,
    primaryType: 'TransferWithAuthorization',
    types: transferTypes,
  })
  return keccak256(concatHex(['0x1901', separatorOf(network), struct]))
}

import { recover, signRecoverable } from 'tiny-secp256k1'
import {
  bytesToHex,
  type Hex,
  hexToBytes,
  keccak256,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem'
import { privateKeyToAddress, publicKeyToAddress } from 'viem/accounts'

// Every payment that comes in, forged or not, costs the main thread a recovery, and every settlement a signature.
// libsecp256k1 as WebAssembly takes 0.3 and 0.1 ms for them; the arithmetic that viem brings takes 1.3 and 0.4 ms.

/**
 * The address whose key has signed this hash.
 *
 * @param signature 65 bytes: r, s, and 0, 1, 27 or 28
 * @returns undefined if no key can have made it; it may be the signature of a contract wallet
 */
export function signerOf(hash: Hex, signature: Hex): Hex | undefined {
  try {
    const bytes = hexToBytes(signature)
    const parity = parities.get(bytes[64])
    if (bytes.length !== 65 || parity === undefined) return undefined
    const publicKey = recover(hexToBytes(hash), bytes.subarray(0, 64), parity, false)
    return publicKey ? publicKeyToAddress(bytesToHex(publicKey)) : undefined
  } catch {
    return undefined
  }
}

const parities = new Map<number | undefined, 0 | 1>([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])

export function transactionSigner(privateKey: Hex) {
  const key = hexToBytes(privateKey)
  return {
    address: privateKeyToAddress(privateKey),
    sign(transaction: TransactionSerializableEIP1559): Hex {
      const hash = keccak256(serializeTransaction(transaction), 'bytes')
      const { signature, recoveryId } = signRecoverable(hash, key)
      return serializeTransaction(transaction, {
        r: bytesToHex(signature.subarray(0, 32)),
        s: bytesToHex(signature.subarray(32)),
        yParity: recoveryId,
      })
    },
  }
}

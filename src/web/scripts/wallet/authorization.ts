import type { Hex } from 'viem'
import type { WalletSettings } from '../../buying/wallet-panel.ts'
import type { PaymentRequired, PaymentRequirement } from './payment-required.ts'

/** A transfer of USDC that its owner allows by signing it (EIP-3009). */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

const bytes32 = 'bytes32'
const uint256 = 'uint256'

/** @param nowSeconds by the clock of the store, because a visitor's clock may be wrong */
export function authorizationFor(
  { payTo, amount, maxTimeoutSeconds }: PaymentRequirement,
  from: Hex,
  { nowSeconds, nonce }: { readonly nowSeconds: number; readonly nonce: Uint8Array },
): Authorization {
  const digits = Array.from(nonce, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return {
    from,
    to: payTo as Hex,
    value: amount,
    validAfter: '0',
    validBefore: String(nowSeconds + maxTimeoutSeconds),
    nonce: `0x${digits}`,
  }
}

/** What the wallet shows and signs (EIP-712). */
export function typedData(
  { network, asset, domain }: WalletSettings,
  authorization: Authorization,
) {
  return {
    domain: { ...domain, chainId: network.chainId, verifyingContract: asset as Hex },
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: uint256 },
        { name: 'validAfter', type: uint256 },
        { name: 'validBefore', type: uint256 },
        { name: 'nonce', type: bytes32 },
      ],
    },
    message: {
      from: authorization.from,
      to: authorization.to,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce,
    },
  } as const
}

/** The header `PAYMENT-SIGNATURE` of x402, version 2: base64 of UTF-8 JSON that echoes the terms. */
export function paymentHeader(
  { resource, extensions }: PaymentRequired,
  accepted: PaymentRequirement,
  payload: { readonly signature: Hex; readonly authorization: Authorization },
): string {
  const payment = { x402Version: 2, resource, accepted, payload, extensions }
  const bytes = new TextEncoder().encode(JSON.stringify(payment))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

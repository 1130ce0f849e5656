import type { WalletSettings } from '../../buying/buy-form.ts'
import { purchaseFields } from '../../buying/field-value.ts'

export type Hex = `0x${string}`

/** The fields of the store's 402 (x402, version 2) that are used here. */
export interface PaymentRequired {
  readonly resource: unknown
  readonly extensions: unknown
  readonly accepts: readonly PaymentRequirement[]
}

export interface PaymentRequirement {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly amount: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The longest validity that is signed. No payment needs more, and it limits the harm of a wrong answer. */
const maxSeconds = 900

/** The terms of the store that are what the page says: the same token, on the same chain, to the same address. */
export function matchingTerms(
  { accepts }: PaymentRequired,
  { network, payTo }: WalletSettings,
): PaymentRequirement | undefined {
  const { id, usdc, usdcDomain } = network
  return accepts.find(
    ({ extra, maxTimeoutSeconds, ...terms }) =>
      terms.scheme === 'exact' &&
      terms.network === id &&
      terms.asset === usdc &&
      terms.payTo === payTo &&
      extra['name'] === usdcDomain.name &&
      extra['version'] === usdcDomain.version &&
      maxTimeoutSeconds <= maxSeconds &&
      /^[1-9]\d{0,29}$/.test(terms.amount),
  )
}

/** A transfer of USDC that its owner allows by signing it (EIP-3009). */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

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

const typesOf = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, type]) => ({ name, type }))

/** What the wallet shows and signs (EIP-712). */
export function typedData({ network }: WalletSettings, message: Authorization) {
  const { chainId, usdc: verifyingContract, usdcDomain } = network
  return {
    domain: { ...usdcDomain, chainId, verifyingContract },
    primaryType: 'TransferWithAuthorization',
    types: {
      EIP712Domain: typesOf({
        name: 'string',
        version: 'string',
        chainId: 'uint256',
        verifyingContract: 'address',
      }),
      TransferWithAuthorization: typesOf({
        from: 'address',
        to: 'address',
        value: 'uint256',
        validAfter: 'uint256',
        validBefore: 'uint256',
        nonce: 'bytes32',
      }),
    },
    message,
  }
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

export interface LineItem {
  readonly fields: Readonly<Record<string, unknown>>
  readonly formKey: string
  /** The price that the page showed, as `shownPriceOf` writes it. */
  readonly seen: string
  /** A higher price that was shown since and that the buyer accepts; atomic USDC. */
  readonly most?: bigint | undefined
}

const others = /^(pay|mail|key|seen|refundTo-.*|confirm.*)$/

export function lineItemIn(form: Iterable<readonly [string, unknown]>, offerId: string): LineItem {
  const sent: Readonly<Record<string, string>> = Object.fromEntries(
    [...form].map(([name, value]) => [name, String(value)]),
  )
  const { confirmNumber: confirmed = '', confirmAnother: another = '', key = '', seen = '' } = sent
  const typed = Object.fromEntries(Object.entries(sent).filter(([name]) => !others.test(name)))
  const fields = purchaseFields(offerId, typed, { confirmed, another })
  return { fields, formKey: key, seen }
}

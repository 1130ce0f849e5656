import { fieldValue } from '../../buying/field-value.ts'
import type { WalletSettings } from '../../buying/wallet-panel.ts'

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

type Judged =
  | { readonly type: 'good'; readonly asked: PaymentRequirement; readonly amount: bigint }
  /** It costs more than the page showed. */
  | { readonly type: 'dearer'; readonly amount: bigint }
  /** It differs from what the page says. Nothing of it is signed. */
  | { readonly type: 'mismatch' }

/** The longest validity that is signed. No payment needs more, and it limits the harm of a wrong answer. */
const maxSeconds = 900

/**
 * Compares the terms of the store with what the page says: the same token, on the same chain, to the same address, and
 * at most the same amount.
 *
 * @param said the maximum price that the page shows, in atomic USDC
 */
export function judge(
  { accepts }: PaymentRequired,
  settings: WalletSettings,
  said: bigint | undefined,
): Judged {
  const asked = accepts.find((one) => isAsSaid(one, settings))
  if (asked === undefined || !/^\d{1,30}$/.test(asked.amount)) return { type: 'mismatch' }
  const amount = BigInt(asked.amount)
  if (said === undefined || amount === 0n) return { type: 'mismatch' }
  return amount > said ? { type: 'dearer', amount } : { type: 'good', asked, amount }
}

function isAsSaid(
  asked: PaymentRequirement,
  { network, asset, payTo, domain }: WalletSettings,
): boolean {
  const { extra, maxTimeoutSeconds: seconds } = asked
  return (
    asked.scheme === 'exact' &&
    asked.network === network.id &&
    same(asked.asset, asset) &&
    same(asked.payTo, payTo) &&
    extra?.['name'] === domain.name &&
    extra['version'] === domain.version &&
    Number.isInteger(seconds) &&
    seconds > 0 &&
    seconds <= maxSeconds
  )
}

/** Addresses differ in the case of their letters only by their checksum. */
function same(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase()
}

/** USDC has six decimals, so a cent is ten thousand atomic units. */
const unitsPerCent = 10_000n

/**
 * The maximum price of this purchase by what the page shows, in atomic USDC; undefined if the typed amount is invalid,
 * which the store explains better.
 *
 * @param seen the price as the form sends it: "fixed:" and cents, or "open:" and the markup in basis points, which is
 *   added to the amount and rounded up to the cent. The least and the greatest amount and their minimum prices may
 *   follow; the minimum price rises linearly between them
 */
export function saidPrice(seen: string, value: unknown): bigint | undefined {
  const [, type, number = '', floor] =
    /^(fixed|open):(\d{1,12})(?::(\d{1,12}-\d{1,12}:\d{1,12}-\d{1,12}))?$/.exec(seen) ?? []
  if (type === 'fixed') return BigInt(number) * unitsPerCent
  if (type !== 'open' || typeof value !== 'number' || !(value > 0)) return undefined
  const cents = BigInt(Math.round(value * 100))
  const raised = (cents * (10_000n + BigInt(number)) + 9_999n) / 10_000n
  const least = floor === undefined ? 0n : leastCost(floor, cents)
  return (least > raised ? least : raised) * unitsPerCent
}

function leastCost(floor: string, cents: bigint): bigint {
  const [min = 0n, max = 0n, lowest = 0n, highest = 0n] = floor.split(/[-:]/).map(BigInt)
  if (max <= min) return highest
  return lowest + ((highest - lowest) * (cents - min) + max - min - 1n) / (max - min)
}

/** "25.00", with as many decimals as there are and at least two. */
export function usdcText(atomic: bigint): string {
  const digits = atomic.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, '')}`
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
export function typedData(
  { network, asset, domain: { name, version } }: WalletSettings,
  message: Authorization,
) {
  return {
    domain: { name, version, chainId: network.chainId, verifyingContract: asset },
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
  /** The price that the page showed, as `seenOf` writes it. */
  readonly seen: string
  /** A higher price that was shown since and that the buyer accepts; atomic USDC. */
  readonly most?: bigint | undefined
}

const others = /^(pay|mail|key|seen|refundTo-.*)$/

export function lineItemIn(form: Iterable<readonly [string, unknown]>, offerId: string): LineItem {
  const typed = [...form].map(([name, value]) => [name, String(value)] as const)
  const told = typed
    .filter(([name, text]) => !others.test(name) && text.trim() !== '')
    .map(([name, text]) => [name, fieldValue(name, text)] as const)
  const { confirmNumber, ...fields } = Object.fromEntries(told)
  // The confirmation counts only for the number for which it was given.
  const insists = confirmNumber !== undefined && confirmNumber === fields['msisdn']
  const one = (wanted: string) => typed.find(([name]) => name === wanted)?.[1] ?? ''
  return {
    fields: { offerId, ...fields, ...(insists ? { confirmNumber: true } : {}) },
    formKey: one('key'),
    seen: one('seen'),
  }
}

import { randomBytes } from 'node:crypto'
import type { Hex, LocalAccount } from 'viem'
import { transferTypes } from '../../src/adapters/chain/token.ts'

/** The terms of a 402 that a buyer signs. */
export interface Accepts {
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly network: string
  readonly scheme: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string; readonly quote?: string }
}

export interface SignOptions {
  readonly nonce?: Hex
  readonly to?: string
  readonly value?: string
  readonly validBefore?: number
  /** The x402 payment-identifier to send along. */
  readonly identifier?: string
}

/** A `PAYMENT-SIGNATURE` of this wallet for these terms. It is built here, so that tests can make it wrong. */
export async function signPayment(
  account: LocalAccount,
  accepts: Accepts,
  options: SignOptions = {},
) {
  const authorization = {
    from: account.address,
    to: (options.to ?? accepts.payTo) as Hex,
    value: options.value ?? accepts.amount,
    validAfter: '0',
    validBefore: String(
      options.validBefore ?? Math.floor(Date.now() / 1_000) + accepts.maxTimeoutSeconds,
    ),
    nonce: options.nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
  }
  const signature = await account.signTypedData({
    domain: {
      name: accepts.extra.name,
      version: accepts.extra.version,
      chainId: 84_532,
      verifyingContract: accepts.asset as Hex,
    },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: 0n,
      validBefore: BigInt(authorization.validBefore),
    },
  })
  const extensions = options.identifier
    ? { 'payment-identifier': { info: { required: false, id: options.identifier } } }
    : undefined
  const payload = {
    x402Version: 2,
    accepted: accepts,
    payload: { signature, authorization },
    extensions,
  }
  return {
    header: Buffer.from(JSON.stringify(payload)).toString('base64'),
    authorization,
    signature,
  }
}

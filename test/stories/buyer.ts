import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { inject } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import { transferTypes } from '../../src/adapters/chain/token.ts'
import { balanceOf, type ChainParts, mintUsdc } from './chain.ts'

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

/**
 * A buyer with a wallet of its own that signs x402 payments by hand, so that a story can send the
 * same payment twice, change it, or never send it.
 *
 * @param account the wallet; a contract that is one (ERC-1271) says its own address and how it signs
 */
export async function newBuyer(
  balanceAtomic = 1_000_000_000n,
  parts: ChainParts = inject('parts'),
  account: LocalAccount = privateKeyToAccount(generatePrivateKey()),
) {
  const reader = chainClient(parts.rpcUrl)
  if (balanceAtomic > 0n) await mintUsdc(parts, account.address, balanceAtomic)

  return {
    account,
    address: account.address,
    reader,

    balance: () => balanceOf(parts, account.address),

    /** A `PAYMENT-SIGNATURE` for these terms. */
    async sign(accepts: Accepts, options: SignOptions = {}) {
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
    },
  }
}

export type Buyer = Awaited<ReturnType<typeof newBuyer>>

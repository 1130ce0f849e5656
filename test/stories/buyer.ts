import { randomBytes } from 'node:crypto'
import { createPublicClient, createWalletClient, type Hex, http, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { inject } from 'vitest'
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

const token = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/**
 * A buyer with a wallet of its own that signs x402 payments by hand, so that a story can send the
 * same payment twice, change it, or never send it.
 */
export async function newBuyer(balanceAtomic = 1_000_000_000n) {
  const { rpcUrl, usdc, keys } = inject('parts')
  const account = privateKeyToAccount(generatePrivateKey())
  const reader = createPublicClient({
    chain: baseSepolia,
    transport: http(rpcUrl),
    pollingInterval: 20,
  })
  const asset = usdc as Hex
  if (balanceAtomic > 0n) await mint(account.address, balanceAtomic)

  async function mint(to: Hex, amount: bigint): Promise<void> {
    const minter = createWalletClient({
      account: privateKeyToAccount(keys.minter as Hex),
      chain: baseSepolia,
      transport: http(rpcUrl),
    })
    await untilMinted(async () => {
      const hash = await minter.writeContract({
        address: asset,
        abi: token,
        functionName: 'mint',
        args: [to, amount],
      })
      await reader.waitForTransactionReceipt({ hash })
    })
  }

  return {
    account,
    address: account.address,
    reader,

    balance: () =>
      reader.readContract({
        address: asset,
        abi: token,
        functionName: 'balanceOf',
        args: [account.address],
      }),

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

/** Story files run side by side and share the minter, whose account nonces then collide. */
async function untilMinted(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 20) throw error
    }
  }
}

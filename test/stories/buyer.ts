import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { inject } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import { type Accepts, type SignOptions, signPayment } from '../harness/payer.ts'
import { balanceOf, type ChainParts, mintUsdc } from './chain.ts'

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
    sign: (accepts: Accepts, options: SignOptions = {}) => signPayment(account, accepts, options),
  }
}

export type Buyer = Awaited<ReturnType<typeof newBuyer>>

import { encodeFunctionData, type Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import type { Buyer } from '../buyer.ts'
import { anybody, type ChainParts, usdcAbi } from '../chain.ts'

type Payment = Pick<Awaited<ReturnType<Buyer['sign']>>, 'authorization' | 'signature'>

/** The call that makes the token carry out a payment; anybody may send it. */
export function settling({ authorization, signature }: Payment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [
      ...([from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const),
      ...([nonce, signature] as const),
    ],
  })
}

/** Sends one call to the token in a transaction of its own, and says how that ended. */
export async function callToken(parts: ChainParts, data: Hex): Promise<'success' | 'reverted'> {
  const { client, account } = await anybody(parts, generatePrivateKey())
  // With the gas given, the node takes the transaction without asking whether it will fail.
  const to = parts.usdc as Hex
  const hash = await client.sendTransaction({ account, to, data, gas: 500_000n })
  return (await client.waitForTransactionReceipt({ hash })).status
}

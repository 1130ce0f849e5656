import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { expect } from 'vitest'
import type { Buyer } from '../buyer.ts'
import { anybody, type ChainParts, usdcAbi } from '../chain.ts'

/** Where Base has Multicall3, and the sandbox chain too. */
const multicall3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls) payable returns ((bool success, bytes returnData)[])',
])

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

/** The call that makes the nonce of a payment worthless, as only its payer can sign it. */
export async function cancelling(buyer: Buyer, usdc: string, nonce: Hex): Promise<Hex> {
  const signature = await buyer.account.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: usdc as Hex },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: buyer.address, nonce },
  })
  return encodeFunctionData({
    abi: usdcAbi,
    functionName: 'cancelAuthorization',
    args: [buyer.address, nonce, signature],
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

/** Sends calls to the token in this order, all inside one transaction of another contract. */
export async function callTokenTogether(parts: ChainParts, calls: readonly Hex[]): Promise<Hex> {
  const { client, account } = await anybody(parts, generatePrivateKey())
  const target = parts.usdc as Hex
  const hash = await client.writeContract({
    address: multicall3,
    abi: multicallAbi,
    functionName: 'aggregate3',
    args: [calls.map((callData) => ({ target, allowFailure: false, callData }))],
    account,
  })
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
  return hash
}

import { randomBytes } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { parseAbi, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Chain } from './chain.ts'
import { chainClient } from './rpc.ts'

/** The functions of USDC that tests call, from its published ABI. */
export const token = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
  signature: Hex
}

export function balanceOf(chain: Chain, account: Address): Promise<bigint> {
  return chainClient(chain.rpcUrl).readContract({
    address: chain.usdc,
    abi: token,
    functionName: 'balanceOf',
    args: [account],
  })
}

/** Signs as a wallet on Base Sepolia would: the domain is the published one, not read from the chain. */
export async function authorize(key: Hex, to: Address, value: bigint): Promise<Authorization> {
  const account = privateKeyToAccount(key)
  const message = {
    from: account.address,
    to,
    value,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 600),
    nonce: toHex(randomBytes(32)),
  }
  const domain = {
    name: 'USDC',
    version: '2',
    chainId: 84532,
    verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  } as const
  const primaryType = 'TransferWithAuthorization'
  const signature = await account.signTypedData({ domain, types, primaryType, message })
  return { ...message, signature }
}

/** Submits an authorization with the gas wallet; rejects with the token's revert reason. */
export async function submit(chain: Chain, authorization: Authorization) {
  const client = chainClient(chain.rpcUrl)
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization
  const hash = await client.writeContract({
    address: chain.usdc,
    abi: token,
    functionName: 'transferWithAuthorization',
    account: privateKeyToAccount(chain.keys.gas),
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
  return client.waitForTransactionReceipt({ hash })
}

/** Makes a payment of a new buyer, and returns a way to read the state of its nonce later. */
export async function usedNonce(chain: Chain) {
  const key = generatePrivateKey()
  const authorization = await authorize(key, chain.keys.payTo, 1n)
  await chain.faucet(authorization.from)
  await submit(chain, authorization)
  return {
    isUsedAt: (on: Chain, blockTag: 'latest' | 'safe' | 'finalized') =>
      chainClient(on.rpcUrl).readContract({
        address: on.usdc,
        abi: token,
        functionName: 'authorizationState',
        args: [authorization.from, authorization.nonce],
        blockTag,
      }),
  }
}

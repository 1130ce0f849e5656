import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { chainClient } from '../../sandbox/chain/rpc.ts'

const enoughEther = 10n ** 21n

/** A gas wallet of its own: two processes that send from one wallet take each other's nonces. */
export async function fundedGasKey(rpcUrl: string): Promise<`0x${string}`> {
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  await chainClient(rpcUrl).setBalance({ address, value: enoughEther })
  return key
}

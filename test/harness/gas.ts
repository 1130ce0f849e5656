import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { chainClient } from '../../sandbox/chain/rpc.ts'

const enoughEther = 10n ** 21n

/** A new gas wallet with ether: two processes that send from one wallet would use the same nonces. */
export async function fundedGasKey(rpcUrl: string): Promise<`0x${string}`> {
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  await chainClient(rpcUrl).setBalance({ address, value: enoughEther })
  return key
}

import { numberToHex } from 'viem'
import { startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import { openNode, type Store, siblingSettings } from './store.ts'

/** Where chains of the OP Stack say what the data of a transaction costs. */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
const oneEther = 10n ** 18n

/** A node of the same store that hears of its chain that the data of a transaction costs an ether. */
export async function openDear(store: Store) {
  const settings = await siblingSettings(store)
  const before = await startNodeBefore(settings.rpcUrl)
  before.tamper((method, [call]) => {
    const { to } = (call ?? {}) as { to?: string }
    const isAsked = method === 'eth_call' && to?.toLowerCase() === gasPriceOracle
    return isAsked ? { result: numberToHex(oneEther, { size: 32 }) } : undefined
  })
  const node = await openNode({ ...settings, rpcUrl: before.url }, store.parts)
  return {
    url: node.url,
    async close() {
      await node.close()
      await before.stop()
    },
  }
}

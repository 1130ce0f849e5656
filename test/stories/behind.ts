import { startNodeBefore, type Tamper } from '../../src/adapters/chain/chain.fixture.ts'
import type { NodeSettings } from '../harness/node.ts'
import { openNode, type Store, siblingSettings } from './store.ts'

/** A node of the same store that hears of its chain what `tamperFor` makes of it. */
export async function openBehind(store: Store, tamperFor: (settings: NodeSettings) => Tamper) {
  const settings = await siblingSettings(store)
  const before = await startNodeBefore(settings.rpcUrl)
  before.tamper(tamperFor(settings))
  const node = await openNode({ ...settings, rpcUrl: before.url }, store.parts)
  return {
    url: node.url,
    async close() {
      await node.close()
      await before.stop()
    },
  }
}

import { numberToHex } from 'viem'
import { openBehind } from './behind.ts'
import type { Store } from './store.ts'

/** Where chains of the OP Stack say what the data of a transaction costs. */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
const oneEther = 10n ** 18n

/** A node of the same store that hears of its chain that the data of a transaction costs an ether. */
export function openDear(store: Store) {
  return openBehind(store, () => (method, [call]) => {
    const { to } = (call ?? {}) as { to?: string }
    const isAsked = method === 'eth_call' && to?.toLowerCase() === gasPriceOracle
    return isAsked ? { result: numberToHex(oneEther, { size: 32 }) } : undefined
  })
}

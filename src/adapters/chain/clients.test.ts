import { expect, test } from 'vitest'
import { networks } from '../../payments/networks.ts'
import { openNode } from './clients.ts'

test('a network needs nothing but its entry in the list of networks', () => {
  const network = { ...networks.base, id: 'eip155:10', chainId: 10, name: 'OP Mainnet' }
  const node = openNode({ network, rpcUrl: 'http://127.0.0.1:9', pollMs: 500 })
  expect(node.network).toBe(network)
})

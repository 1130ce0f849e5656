import { expect, test } from 'vitest'
import { readConfig, type SandboxConfig } from '../config.ts'
import { keysInForce } from '../nodes/nodes.ts'
import { type SandboxParts, sandboxOutside } from './sandbox-parts.ts'

test('a new folder of the sandbox goes on with a database that another folder had', async () => {
  const parts = {
    chain: { rpcUrl: '', keys: { payTo: '', gas: '', refund: '' } },
    supplier: {},
    secretsKey: Buffer.alloc(32, 1),
  } as unknown as SandboxParts
  const config = sandboxOutside(readConfig({}) as SandboxConfig, parts)
  const inForce = async () => ({ name: 'shop:8402', keyId: '0123456789ab' })
  const keys = await keysInForce({ inForce }, config)
  expect(keys.keys[keys.currentIndex()]).toBe(parts.secretsKey)
})

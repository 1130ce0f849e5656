import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { sandbox } from './demo.fixture.ts'

test('a chain that cannot be reached is named, not taken for an empty wallet', async () => {
  const rpcUrl = 'http://127.0.0.1:1'
  await expect(newBuyer({ ...sandbox, rpcUrl }).balance()).rejects.toThrow(
    `The chain at ${rpcUrl} cannot be read from here.`,
  )
})

import { expect, test } from 'vitest'
import { examine } from '../../doctor/examine.ts'
import { useStore } from './store.ts'

// As many offers as the sandbox has by itself: the examples of the 402 are among them.
const store = useStore({ offers: 12_000 })

test('the doctor finds all that is sold here and nothing that a buyer would stumble on; it buys nothing', async () => {
  const { findings, operations } = await examine(store.url)
  expect(operations).toEqual([
    'POST /api/catalog/vouchers/purchase/info',
    'POST /api/catalog/topups/purchase/info',
    'POST /api/catalog/esims/purchase/info',
  ])
  expect(findings.map(({ code, where }) => `${code} ${where}`)).toEqual([])
  expect(await store.query('select * from orders')).toEqual([])
})

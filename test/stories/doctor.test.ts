import { afterAll, beforeAll, expect, test } from 'vitest'
import { examine } from '../../doctor/examine.ts'
import { openStore, type Store } from './store.ts'

let store: Store

beforeAll(async () => {
  // As many offers as the sandbox has by itself: the examples of the 402 are among them.
  store = await openStore({ offers: 12_000 })
})
afterAll(() => store.close())

/** What this store lacks, known and not stopping anybody. */
const known = [
  'openapi_missing GET /openapi.json',
  'example_refused POST /api/catalog/topups/purchase/info with {"offerId":"CLARO_GT_OPEN","msisdn":"+50255551234"}',
  'llms_missing GET /llms.txt',
  'jwks_missing GET /.well-known/jwks.json',
  'mcp_missing /mcp',
]

test('the doctor finds all that is sold here, and nothing else than what is known; it buys nothing', async () => {
  const { findings, operations } = await examine(store.url)
  expect(operations).toEqual([
    'POST /api/catalog/vouchers/purchase/info',
    'POST /api/catalog/topups/purchase/info',
    'POST /api/catalog/esims/purchase/info',
  ])
  expect(findings.map(({ code, where }) => `${code} ${where}`)).toEqual(known)
  expect(findings.filter(({ level }) => level === 'stop')).toEqual([])
  expect(await store.query('select * from orders')).toEqual([])
})

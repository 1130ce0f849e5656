import type { Pool } from 'pg'
import { beforeEach, expect, test, vi } from 'vitest'
import { orderOnRecord, pending, wanted } from '../../test/fixtures/sample-orders.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { type Context, UsageError } from './act.ts'
import { exportAct } from './export.ts'

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  return () => database.end()
})

/** What the act prints of this database. */
async function exported(isJson: boolean, ...args: readonly string[]): Promise<string> {
  const context = {
    isJson,
    withOperator: (work: (operator: unknown) => unknown) => work({ database }),
  } as unknown as Context
  let text = ''
  const written = vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part
    return true
  })
  await exportAct.run(args, context).finally(() => written.mockRestore())
  return text
}

test('an export has a heading, and formulas as text', async () => {
  const item = { ...wanted.item, brandName: `=cmd|'/C calc'!A0` }
  const { id } = await orderOnRecord(createOrderStore(database), pending({ item }))
  const [heading, row, rest] = (await exported(false, 'orders', '2026-03')).split('\r\n')
  expect(heading).toMatch(/^order,placed_at,state,refund_state,kind,brand,/)
  expect(row).toContain(
    `${id},2026-03-01T10:00:00.123Z,PAYMENT_PENDING,,voucher,'=cmd|'/C calc'!A0,`,
  )
  expect(rest).toBe('')
})

test('in JSON it is the same rows, all of them', async () => {
  const store = createOrderStore(database)
  for (let count = 0; count < 501; count += 1) await orderOnRecord(store, pending())
  const rows = JSON.parse(await exported(true, 'orders', '2026-03'))
  expect(rows).toHaveLength(501)
  expect(rows[0]).toMatchObject({ price_usd: '12.500000', received_usd: '0.000000' })
  expect(JSON.parse(await exported(true, 'ledger'))).toEqual([])
})

test.each([
  [[], 'Say what to export'],
  [['order'], 'did you mean orders?'],
  [['orders', 'all'], '"all" is no month'],
  [['orders', '2026-01', '2026-02'], 'orders takes one month'],
  [['month'], '"" is no month'],
  [['month', '2999-01'], '2999-01 has not begun'],
  [['ledger', '2999-01'], '2999-01 has not begun'],
])('%j is refused', async (args, message) => {
  const refused = exportAct.run(args, {} as Context)
  await expect(refused).rejects.toThrow(UsageError)
  await expect(exportAct.run(args, {} as Context)).rejects.toThrow(message)
})

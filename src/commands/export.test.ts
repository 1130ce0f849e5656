import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { orderOnRecord, pending, wanted } from '../../test/fixtures/sample-orders.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { type Context, UsageError } from './act.ts'
import { exportAct } from './export.ts'

const postgres = migratedPostgres()
let database: Pool
let folder: string

beforeEach(async () => {
  database = await postgres.open()
  folder = mkdtempSync(join(tmpdir(), 'kiosk402-export-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await database.end()
})

/** Runs the act on this database, and returns its file. */
async function exported(isJson: boolean, ...args: readonly string[]): Promise<string> {
  const file = join(folder, 'book')
  const context = {
    ...{ isJson, isDryRun: false, tell: () => undefined },
    withOperator: (work: (operator: unknown) => unknown) => work({ database }),
  } as unknown as Context
  const { data } = await exportAct.run([...args, '--out', file], context)
  expect(data).toMatchObject({ file })
  return readFileSync(file, 'utf8')
}

test('an export is a file that nobody else reads, with a heading, and formulas as text', async () => {
  const item = { ...wanted.item, brandName: `=cmd|'/C calc'!A0` }
  const { id } = await orderOnRecord(createOrderStore(database), pending({ item }))
  const [heading, row, rest] = (await exported(false, 'orders', '--month', '2026-03')).split('\r\n')
  expect(heading).toMatch(/^order,placed_at,state,refund_state,kind,brand,/)
  expect(row).toContain(
    `${id},2026-03-01T10:00:00.123Z,PAYMENT_PENDING,,voucher,'=cmd|'/C calc'!A0,`,
  )
  expect(rest).toBe('')
  expect(statSync(join(folder, 'book')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['book'])
})

test('in JSON it is the same rows, all of them', async () => {
  const store = createOrderStore(database)
  for (let count = 0; count < 501; count += 1) await orderOnRecord(store, pending())
  const rows = JSON.parse(await exported(true, 'orders', '--from', '2026-03-01'))
  expect(rows).toHaveLength(501)
  expect(rows[0]).toMatchObject({ price_usd: '12.500000', received_usd: '0.000000' })
  expect(JSON.parse(await exported(true, 'ledger'))).toEqual([])
})

test.each([
  [[], 'Say what to export'],
  [['order'], 'did you mean orders?'],
  [['orders', 'all'], 'orders takes nothing else'],
  [['orders', '--from', '2026-02-30'], '--from is "2026-02-30"'],
  [['orders', '--from', '2026-03-02', '--to', '2026-03-01'], '--from is after --to'],
  [['month'], '"" is no month'],
  [['month', '2999-01'], '2999-01 has not begun'],
  [['ledger', '--month', '2999-01'], '2999-01 has not begun'],
])('%j is refused', async (args, message) => {
  const refused = exportAct.run(args, {} as Context)
  await expect(refused).rejects.toThrow(UsageError)
  await expect(exportAct.run(args, {} as Context)).rejects.toThrow(message)
})

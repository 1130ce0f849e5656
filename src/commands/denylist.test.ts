import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { readDenied } from '../adapters/storage/denylist.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import type { Operator } from '../operator/operator.ts'
import { type Context, UsageError } from './act.ts'
import { denylist } from './denylist.ts'

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  return () => database.end()
})

const why = ['--reason', ' Sanctioned ']
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
const xmr =
  '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A'

test.each([
  [[wallet, wallet.toLowerCase()], [wallet.toLowerCase()]],
  [['+1 (202) 555-0123'], ['+12025550123']],
  [['Ada@Example.com'], ['ada@example.com']],
  [['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'], ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ']],
  [
    [xmr, '8901410321111851072'],
    [xmr, '8901410321111851072'],
  ],
])('%j is denied once, as %j', async (names, parties) => {
  const context = { withOperator: (work) => work({ database, by: 'ann' } as Operator) } as Context
  const { data } = await denylist.run(['add', ...names, ...why], context)
  expect(data).toMatchObject(parties.map((party) => ({ party, isChanged: true })))
  expect(await readDenied(database)).toMatchObject(
    parties.map((party) => ({ party, reason: 'Sanctioned', by: 'ann' })),
  )
})

test.each([
  [[], 'Say what to do'],
  [['show'], '"show" is not known'],
  [['list', wallet], 'list takes nothing else'],
  [['add', ...why], 'add needs a wallet, address or receiver'],
  [['remove', wallet], 'remove needs a reason'],
  [['add', wallet, '--reason', ' '], 'add needs a reason'],
  [['add', '5550123', ...why], '"5550123" is no wallet'],
  [['add', xmr.replace('3', '4'), ...why], 'is mistyped'],
  [['add', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', ...why], 'is mistyped'],
  [['import'], 'import needs a file'],
  [['import', 'a.txt', '--list', 'hand'], 'no file denies'],
  [['import', 'a.txt', '--list', '../a'], 'no name of a list'],
  [['add', wallet, '--shrinks', ...why], '--shrinks is not for add'],
  [['add', 'Ada Lovelace', ...why], '"Ada Lovelace" is no wallet'],
  [['add', wallet, '--force', ...why], '--force'],
])('%j is refused', async (args, message) => {
  const run = async () => denylist.run(args, {} as Context)
  await expect(run).rejects.toThrow(UsageError)
  await expect(run).rejects.toThrow(message)
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { readActs } from '../adapters/storage/audit.ts'
import { rehearsed } from '../adapters/storage/database.ts'
import { denylistReader } from '../adapters/storage/denylist.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import type { Context } from '../commands/act.ts'
import { denylist } from '../commands/denylist.ts'
import { identityOf } from '../orders/denylist.ts'
import { type Operator, Refused } from './operator.ts'

/** `kiosk402 denylist` on the database of a store. */

const postgres = migratedPostgres()
let database: Pool
let folder: string

beforeEach(async () => {
  database = await postgres.open()
  folder = mkdtempSync(join(tmpdir(), 'lists-'))
  return async () => {
    rmSync(folder, { recursive: true })
    await database.end()
  }
})

function run(...args: readonly string[]): Promise<readonly string[]> {
  return runOn(database, args)
}

async function runOn(database: Pool, args: readonly string[]): Promise<readonly string[]> {
  const withOperator: Context['withOperator'] = (work) => work({ database, by: 'ann' } as Operator)
  return (await denylist.run(args, { withOperator } as Context)).lines
}

function file(...parties: readonly string[]): string {
  const path = join(folder, 'partners.txt')
  writeFileSync(path, parties.map((party) => `${party}\n`).join(''))
  return path
}

const wallet = (digit: number) => `0x${String(digit).repeat(40)}`
const [one, two, three, four] = [1, 2, 3, 4].map(wallet) as [string, string, string, string]
const why = ['--reason', 'Stolen cards'] as const
const deniedNow = async () => (await denylistReader(database)()).toSorted()
const acts = () => readActs(database, { limit: 20 })

test('an import tells who is new, who is gone and what cannot be read, and notes it', async () => {
  await run('import', file(one, two, three))
  expect(await run('import', file(one, two, four, two, 'Ada'))).toEqual([
    `+ ${four}  On the list partners, line 3`,
    `- ${three}  Is not on the list partners any more`,
    '? "Ada" (line 5) is no wallet, address, phone number with its +, e-mail address or ICCID',
    'List partners: 3 parties, 1 of them new; 1 are gone; 1 could not be read.',
  ])
  expect(await deniedNow()).toEqual([one, two, four])
  expect((await acts())[0]).toMatchObject({
    ...{ by: 'ann', act: 'denylist import', subject: 'denylist:partners' },
    after: { parties: 3, listed: 1, delisted: 1 },
  })
})

test('the same list again changes nothing, and is not noted again', async () => {
  await run('import', file(one))
  expect(await run('import', file(one))).toEqual([
    'List partners: 1 parties, 0 of them new; 0 are gone; 0 could not be read.',
  ])
  expect(await acts()).toHaveLength(1)
})

test('a dry run shows the differences and changes nothing', async () => {
  const lines = await rehearsed(database, (dry) => runOn(dry, ['import', file(one)]))
  expect(lines[0]).toContain(`+ ${one}`)
  expect([await deniedNow(), await acts()]).toEqual([[], []])
})

test('who leaves one list stays denied by hand and by other lists', async () => {
  await run('add', one, ...why)
  await run('import', file(one, two, three, four), '--list', 'sdn')
  await run('import', file(two))
  await run('import', file(three, four), '--list', 'sdn')
  expect(await deniedNow()).toEqual([one, two, three, four])
  expect(await run('remove', three, ...why)).toEqual([
    `${three} was not on it, and stays denied by sdn`,
  ])
  await run('remove', three, '--list', 'sdn', ...why)
  await run('remove', one, ...why)
  expect(await deniedNow()).toEqual([two, four])
})

test('a list that loses more than half of its parties is left as it is, unless it may shrink', async () => {
  await run('import', file(one, two, three))
  await expect(run('import', file(three))).rejects.toThrow('would lose 2 of its 3 parties')
  await expect(run('import', file('# none'))).rejects.toThrow('would lose 3 of its 3 parties')
  expect(await deniedNow()).toEqual([one, two, three])
  await run('import', file(three), '--shrinks')
  expect(await deniedNow()).toEqual([three])
  await run('import', file('# none'), '--shrinks')
  expect(await deniedNow()).toEqual([])
})

test('a file that is no list changes nothing', async () => {
  await run('import', file(one))
  await expect(run('import', file('name;phone', 'Ada;12'))).rejects.toThrow(Refused)
  expect(await deniedNow()).toEqual([one])
})

test('an address with a wrong checksum is named, and the others count', async () => {
  const [good, bad] = ['1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH', '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMj']
  const lines = await run('import', file(good, bad))
  expect(lines[1]).toBe(`? "${bad}" (line 2) is mistyped: no such address exists`)
  expect(await deniedNow()).toEqual([identityOf(good)])
})

test('20,000 wallets are imported in seconds, and read again only after a change', async () => {
  const wallets = Array.from({ length: 20_000 }, (_, n) => `0x${String(n).padStart(40, 'a')}`)
  const began = performance.now()
  expect(await run('import', file(...wallets))).toHaveLength(20_001)
  const seconds = (performance.now() - began) / 1_000
  expect(seconds).toBeLessThan(60)
  const read = denylistReader(database)
  const first = await read()
  expect(await read()).toBe(first)
  await run('remove', wallets[7] ?? '', '--list', 'partners', ...why)
  expect(await read()).toHaveLength(19_999)
})

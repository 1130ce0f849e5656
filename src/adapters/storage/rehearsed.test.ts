import { expect, test } from 'vitest'
import { type Database, inTransaction, rehearsed } from './database.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { changeDenylist, listDenied } from './store.ts'

const postgres = migratedPostgres()

const list = (database: Database, party: string) =>
  changeDenylist(database, {
    parties: [{ party, identity: party }],
    isDenied: true,
    reason: 'A rehearsal',
    by: 'ada',
  })

test('a rehearsal sees what it writes, and leaves nothing', async () => {
  const database = await postgres.open()
  const seen = await rehearsed(database, async (rehearsal) => {
    await inTransaction(rehearsal, (client) => list(client, 'ada@example.com'))
    await Promise.all(['b', 'c', 'd'].map((name) => list(rehearsal, `${name}@example.com`)))
    return (await listDenied(rehearsal)).length
  })
  expect(seen).toBe(4)
  expect(await listDenied(database)).toEqual([])
  await database.end()
})

test('what is refused or breaks off in it undoes itself, and nothing else', async () => {
  const database = await postgres.open()
  const seen = await rehearsed(database, async (rehearsal) => {
    await list(rehearsal, 'kept')
    await expect(rehearsal.query('select from nowhere')).rejects.toThrow('nowhere')
    const broken = inTransaction(rehearsal, async (client) => {
      await list(client, 'undone')
      throw new Error('changed its mind')
    })
    await expect(broken).rejects.toThrow('changed its mind')
    return (await listDenied(rehearsal)).map(({ party }) => party)
  })
  expect(seen).toEqual(['kept'])
  expect(await listDenied(database)).toEqual([])
  await database.end()
})

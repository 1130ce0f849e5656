import { expect, test } from 'vitest'
import { type Database, inTransaction, rehearsed } from './database.ts'
import { byHand, changeDenylist, readDenied } from './denylist.ts'
import { migratedPostgres } from './migrated.fixture.ts'

const postgres = migratedPostgres()

const list = (database: Database, party: string) =>
  changeDenylist(database, {
    parties: [{ party, identity: party, reason: 'A rehearsal' }],
    isDenied: true,
    list: byHand,
    by: 'ada',
  })

test('a rehearsal sees what it writes, and leaves nothing', async () => {
  const database = await postgres.open()
  const seen = await rehearsed(database, async (rehearsal) => {
    await inTransaction(rehearsal, (client) => list(client, 'ada@example.com'))
    await Promise.all(['b', 'c', 'd'].map((name) => list(rehearsal, `${name}@example.com`)))
    return (await readDenied(rehearsal)).length
  })
  expect(seen).toBe(4)
  expect(await readDenied(database)).toEqual([])
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
    return (await readDenied(rehearsal)).map(({ party }) => party)
  })
  expect(seen).toEqual(['kept'])
  expect(await readDenied(database)).toEqual([])
  await database.end()
})

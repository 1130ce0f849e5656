import { expect, test } from 'vitest'
import { asked, fulfilled } from '../../test/fixtures/sample-orders.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { changeDenylist, denylistReader } from '../adapters/storage/denylist.ts'
import { createMailBook } from '../adapters/storage/webhooks.ts'
import { denylistOf } from '../orders/denylist.ts'
import { createDigest } from '../secrets/secrets.ts'
import { findOrders } from './finding.ts'
import { key, operatorOnDatabase, storeDigests } from './operator.fixture.ts'
import { erasePerson } from './persons.ts'

const store = operatorOnDatabase()
const [phone, mail] = ['+4915123456789', 'ada.l@example.org']
const why = 'asked for it'

/** All rows that hold the text, in any table. */
async function rowsWith(text: string) {
  const { rows } = await store.database().query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'audit')`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const sql = `select from ${name} as one where one::text ilike '%' || $1 || '%'`
    if ((await store.database().query(sql, [text])).rowCount) found.push(name)
  }
  return found
}

test('a person is erased from every order, and the money trail and the denylist stay', async () => {
  const { id } = await store.place(fulfilled(asked()))
  const book = createMailBook(store.database())
  await book.remember(id, createDigest([key], 'order-mail').of(mail))
  const parties = [{ party: '+49 1512 3456789', identity: phone, reason: 'fraud' }]
  await changeDenylist(store.database(), { parties, isDenied: true, list: 'hand', by: 'eve' })

  expect(await erasePerson(store.anna(), '+49 1512 345-6789', why)).toEqual({
    ...{ orders: 1, checkouts: 0, denylistEntries: 1, later: [] },
  })

  expect(await store.orders().find(id)).toMatchObject({ state: 'FULFILLED', recipient: undefined })
  const { rows } = await store
    .database()
    .query('select account from ledger where order_id = $1', [id])
  expect(rows.length).toBeGreaterThan(0)
  for (const text of [phone, mail]) expect((await findOrders(store.anna(), text)).found).toEqual([])
  for (const text of ['1512 345', phone.slice(1), mail]) expect(await rowsWith(text)).toEqual([])
  const denylist = denylistOf(await denylistReader(store.database())(), storeDigests.digest)
  expect([denylist.has(phone), denylist.has('+4915123456780')]).toEqual([true, false])
  expect(await readActs(store.database(), { limit: 5 })).toMatchObject([
    {
      by: 'anna',
      act: 'person erase',
      subject: expect.stringMatching(/^person:[0-9a-f]{32}$/),
      reason: why,
    },
  ])
})

test('an order that is not over keeps its fields, and the operator is told of it', async () => {
  const { id } = await store.place(asked())
  expect(await erasePerson(store.anna(), phone, why)).toMatchObject({ orders: 0, later: [id] })
  expect((await store.orders().find(id))?.recipient).toBeDefined()
})

test.each([
  ['whom the store does not know', 'nobody@example.org', 'has nothing of this person'],
  ['who may be several', '01512 3456789', 'several people'],
  ['who is nobody', 'Ada Lovelace', 'Name a person by'],
])('a person %s is not erased', async (_, text, message) => {
  await expect(erasePerson(store.anna(), text, why)).rejects.toThrow(message)
  expect(await readActs(store.database(), { limit: 5 })).toEqual([])
})

test('nothing else of the denylist can be changed', async () => {
  const parties = [{ party: phone, identity: phone, reason: 'fraud' }]
  await changeDenylist(store.database(), { parties, isDenied: true, list: 'hand', by: 'eve' })
  const erased = `erased${'0'.repeat(32)}`
  for (const change of [
    `reason = 'none'`,
    `party = '+4915123456780', identity = '+4915123456780'`,
    `identity = '${erased}'`,
    `party = '${erased}', identity = '${erased}', is_denied = false`,
  ]) {
    const changing = store.database().query(`update denylist_changes set ${change}`)
    await expect(changing).rejects.toThrow('keeps what was written')
  }
})

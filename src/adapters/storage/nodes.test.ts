import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { describeNodeBook } from '../../../test/contract/node-book.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createNodeBook } from './nodes.ts'

const postgres = migratedPostgres()
let pools: readonly [Pool, Pool]
beforeEach(async () => {
  pools = await postgres.openForTwo()
})
afterEach(() => Promise.all(pools.map((pool) => pool.end())))

describeNodeBook('in PostgreSQL', () => {
  const [pool, second] = pools
  return {
    books: [createNodeBook(pool), createNodeBook(second)],
    pass: (minutes) =>
      pool.query(`update nodes set seen_at = seen_at - $1 * interval '1 minute'`, [minutes]),
  }
})

describe('the tables of nodes', () => {
  const [known, unknown] = ['0'.repeat(12), 'e'.repeat(12)]
  beforeEach(async () => {
    const node = { id: randomUUID(), name: 'a', version: '1.0.0', keyIds: [known], lostKeys: [] }
    await createNodeBook(pools[0]).beat({ ...node, settings: () => ({}) })
  })
  const insertKey = (id: string) =>
    `insert into used_keys (key_id, node, used_at) values ('${id}', 'b', now())`
  const insertNode = (keys: string, seenAt = 'now()') =>
    `insert into nodes (id, name, key_ids, used_key, seen_at)
     values (gen_random_uuid(), 'b', '{${keys}}', '${keys.split(',')[0]}', ${seenAt})`

  test.each([
    ['truncate nodes', 'keeps what was written'],
    ['truncate used_keys', 'keeps what was written'],
    ['delete from used_keys', 'keeps what was written'],
    ['update used_keys set used_at = now()', 'keeps what was written'],
    [insertKey(unknown), 'node a does not know it'],
    [insertKey('secret'), 'key secret'],
    [insertNode(unknown), 'lacks the key 000000000000'],
    [insertNode(known, `now() + interval '1 day'`), 'cannot be seen in the future'],
    [insertNode(`${known},secret`), 'nodes_key_ids_check'],
    [`update nodes set settings = '[]'`, 'nodes_settings_check'],
    [`update nodes set used_key = '${unknown}'`, 'nodes_check'],
  ])('refuse: %s', async (sql, message) => {
    await expect(pools[0].query(sql)).rejects.toThrow(message)
  })
})

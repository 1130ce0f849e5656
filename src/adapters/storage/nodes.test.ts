import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Node, NodeBook } from '../../nodes/nodes.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createNodeBook } from './nodes.ts'

const postgres = migratedPostgres()
let pool: Pool
let book: NodeBook
beforeEach(async () => {
  pool = await postgres.open()
  book = createNodeBook(pool)
})
afterEach(() => pool.end())

const [key, foreign] = ['0'.repeat(12), 'e'.repeat(12)] as const
const node = (name: string, keyId: string = key): Node => ({
  id: randomUUID(),
  name,
  version: '1.0.0',
  keyId,
  settings: { [keyId]: { MARKUP_BPS: 'a' } },
})
const pass = (seconds: number) =>
  pool.query(`update nodes set seen_at = seen_at - $1 * interval '1 second'`, [seconds])

test('tells each node of the others that are here', async () => {
  const [a, b] = [node('a'), node('b')]
  expect(await book.beat(a)).toEqual([])
  const { id: _, ...others } = a
  expect(await book.beat(b)).toEqual([{ ...others, isHere: true }])
  await pass(20)
  expect(await book.beat(a)).toHaveLength(1)
  await pass(20)
  expect(await book.beat(a)).toEqual([])
  await book.beat(b)
  expect(await book.beat(a)).toHaveLength(1)
  await book.leave(b.id)
  expect(await book.beat(a)).toEqual([])
})

test('tells for a week of a node that is gone and sealed with a key that is missing here', async () => {
  const gone = node('gone', foreign)
  await book.beat(gone)
  await book.leave(gone.id)
  const a = node('a')
  for (const day of [0, 6]) {
    await pass(day * 86_400)
    expect(await book.beat(a)).toMatchObject([{ name: 'gone', keyId: foreign, isHere: false }])
  }
  await pass(86_400)
  await book.beat(a)
  expect(await book.beat(a)).toEqual([])
})

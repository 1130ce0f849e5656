import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import type { Node } from '../../nodes/nodes.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createNodeBook, createWallets } from './store.ts'

const postgres = migratedPostgres()
let pool: Pool
beforeEach(async () => {
  pool = await postgres.open()
  return () => pool.end()
})

const book = () => createNodeBook(pool)
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
  expect(await book().beat(a)).toEqual([])
  const { id: _, ...others } = a
  expect(await book().beat(b)).toEqual([{ ...others, isHere: true }])
  await pass(20)
  expect(await book().beat(a)).toHaveLength(1)
  await pass(20)
  expect(await book().beat(a)).toEqual([])
  await book().beat(b)
  expect(await book().beat(a)).toHaveLength(1)
  await book().leave(b.id)
  expect(await book().beat(a)).toEqual([])
})

test('tells for a week of a node that is gone and sealed with a key that is missing here', async () => {
  const gone = node('gone', foreign)
  await book().beat(gone)
  await book().leave(gone.id)
  const a = node('a')
  for (const day of [0, 6]) {
    await pass(day * 86_400)
    expect(await book().beat(a)).toMatchObject([{ name: 'gone', keyId: foreign, isHere: false }])
  }
  await pass(86_400)
  await book().beat(a)
  expect(await book().beat(a)).toEqual([])
})

const address = (digits: string) => `0x${digits.repeat(20)}`
const first = { pay_to: address('a1'), refunds: address('f1') }
const second = { pay_to: address('A2'), refunds: first.refunds }

test('each address of the store stays on record, from when it was first used', async () => {
  const wallets = createWallets(pool)
  await wallets.use(first)
  await wallets.use(second)
  await wallets.use(second)
  expect(await wallets.ours(second)).toEqual([
    { role: 'pay_to', address: address('a1'), isPresent: false, until: expect.any(Date) },
    { role: 'refunds', address: address('f1'), isPresent: true },
    { role: 'pay_to', address: address('a2'), isPresent: true, since: expect.any(Date) },
  ])
})

test('an address that was used in between ends when the one before it is used again', async () => {
  const wallets = createWallets(pool)
  for (const present of [first, second, first]) await wallets.use(present)
  const [again, between] = (await wallets.ours(first)).filter(({ role }) => role === 'pay_to')
  expect(again).toEqual({ role: 'pay_to', address: address('a1'), isPresent: true })
  expect(between).toMatchObject({ address: address('a2'), isPresent: false })
  expect(between?.until?.getTime()).toBeGreaterThanOrEqual(between?.since?.getTime() ?? Infinity)
})

test('an address that is in use and not on record yet counts as well', async () => {
  expect(await createWallets(pool).ours(second)).toEqual([
    { role: 'pay_to', address: address('a2'), isPresent: true },
    { role: 'refunds', address: address('f1'), isPresent: true },
  ])
})

test('an earlier address that an operator names counts from the beginning until then', async () => {
  const wallets = createWallets(pool)
  await wallets.use(first)
  await wallets.addEarlier('refunds', address('F9'))
  expect(await wallets.ours(first)).toContainEqual({
    ...{ role: 'refunds', address: address('f9'), isPresent: false, until: expect.any(Date) },
  })
})

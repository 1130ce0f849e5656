import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { migratedPostgres } from './migrated.fixture.ts'
import { createWallets } from './wallets.ts'

const postgres = migratedPostgres()
let pool: Pool
beforeEach(async () => {
  pool = await postgres.open()
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
    { role: 'pay_to', address: address('a1'), isPresent: false },
    { role: 'refunds', address: address('f1'), isPresent: true },
    { role: 'pay_to', address: address('a2'), isPresent: true, since: expect.any(Date) },
  ])
})

test('an address that is in use and not on record yet counts as well', async () => {
  expect(await createWallets(pool).ours(second)).toEqual([
    { role: 'pay_to', address: address('a2'), isPresent: true },
    { role: 'refunds', address: address('f1'), isPresent: true },
  ])
})

test('an earlier address that an operator names counts from the beginning', async () => {
  const wallets = createWallets(pool)
  await wallets.use(first)
  await wallets.addEarlier('refunds', address('F9'))
  expect(await wallets.ours(first)).toContainEqual({
    ...{ role: 'refunds', address: address('f9'), isPresent: false },
  })
})

import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { usdc } from '../../lib/money.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createMovements } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool
beforeEach(async () => {
  pool = await postgres.open()
})

const movement = {
  transaction: `0x${'ab'.repeat(32)}`,
  block: 7,
  logIndex: 3,
  from: `0x${'01'.repeat(20)}`,
  to: `0x${'02'.repeat(20)}`,
  amount: usdc(5_000_000n),
}

test('what a person vouches for is kept with the reason that was given first', async () => {
  const movements = createMovements(pool)
  await movements.acknowledge(movement, { reason: 'Float back', by: 'Ann Smith' })
  await movements.acknowledge(movement, { reason: 'Something else', by: 'Bob' })
  await movements.acknowledge({ ...movement, logIndex: 5 }, { reason: 'Too', by: 'Bob' })
  const { transaction } = movement
  expect(await movements.acknowledged()).toEqual([
    { transaction, logIndex: 3, reason: 'Float back', by: 'Ann Smith' },
    { transaction, logIndex: 5, reason: 'Too', by: 'Bob' },
  ])
})

test.each([
  [{ reason: '   ', by: 'Ann Smith' }, {}],
  [{ reason: 'Float back', by: ' ' }, {}],
  [{ reason: 'Float back', by: 'Ann Smith' }, { transaction: '0x12' }],
  [{ reason: 'Float back', by: 'Ann Smith' }, { to: 'nobody' }],
])(
  'the table takes no movement without a reason, a person and a transfer: %j %j',
  async (why, odd) => {
    const said = createMovements(pool).acknowledge({ ...movement, ...odd }, why)
    await expect(said).rejects.toThrow('violates check constraint')
  },
)

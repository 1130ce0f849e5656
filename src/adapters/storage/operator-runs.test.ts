import { expect, test } from 'vitest'
import { migratedPostgres } from './migrated.fixture.ts'
import { lastRuns, noteRun } from './operator-runs.ts'

const postgres = migratedPostgres()

test('what was never done is as old as the store, and a run that failed makes nothing younger', async () => {
  const database = await postgres.open()
  await database.query(`insert into store_identity (mode, network, asset, pay_to, claimed_at)
    values ('live', 'eip155:1', '0x', '0x', '2026-01-01T00:00:00Z')`)
  await database.query(`insert into operator_runs (what, result, ended_at)
    values ('backup', 'good', '2026-02-01T00:00:00Z')`)
  await noteRun(database, 'backup', 'failed')
  await noteRun(database, 'reconcile', 'differs')
  const runs = await lastRuns(database)
  expect(runs.get('backup')).toEqual({
    endedAt: new Date('2026-02-01T00:00:00Z'),
    result: 'failed',
  })
  expect(runs.get('reconcile')).toEqual({ endedAt: expect.any(Date), result: 'differs' })
  expect(runs.get('restore_drill')).toEqual({
    endedAt: new Date('2026-01-01T00:00:00Z'),
    result: null,
  })
})

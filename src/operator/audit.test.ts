import { readFile } from 'node:fs/promises'
import type { Pool } from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createDatabase, dropDatabase } from '../../sandbox/postgres/test-postgres.ts'
import { auditProblem, noteSettings, readActs } from '../adapters/storage/audit.ts'
import { openDatabase } from '../adapters/storage/database.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createMovements } from '../adapters/storage/record.ts'
import { usdc } from '../lib/money.ts'
import { audited } from './audit.ts'
import { changeDenied } from './screening.ts'

const postgres = migratedPostgres()

/** The database as a superuser sees it, and as the store does. */
let admin: Pool
let database: Pool

/** What tests make beside rows, which are removed anyway. */
const leftovers = `drop function if exists fail() cascade;
  grant insert (by, act, subject, before, after, reason) on audit.acts to kiosk402_store`

beforeEach(async () => {
  ;[admin, database] = await postgres.openForStore()
  return async () => {
    await admin.query(leftovers)
    await Promise.all([admin.end(), database.end()])
  }
})

const entry = {
  act: 'sales stop',
  subject: 'refunds',
  before: { stopped: false },
  after: { stopped: true },
  reason: 'the key may have leaked',
}

const stop = () =>
  audited({ database, by: 'anna' }, entry, (client) =>
    client.query(`insert into refund_switch (stopped, reason) values (true, 'leak')`),
  )

const turns = async () => (await database.query('select from refund_switch')).rowCount
const acts = () => readActs(database, { limit: 10 })

test('an act is on record with who, what, before, after and why', async () => {
  await stop()
  expect(await acts()).toEqual([{ ...entry, by: 'anna', at: expect.any(Date) }])
  expect(await turns()).toBe(2)
})

test('what changed nothing is not noted', async () => {
  await audited({ database, by: 'anna' }, () => undefined, stop)
  expect(await acts()).toHaveLength(1)
})

const fullDisk = `
  create function fail() returns trigger language plpgsql as $$
    begin raise exception 'No space left on device' using errcode = '53100'; end $$;
  create trigger fail before insert on audit.acts for each row execute function fail()`

test.each([
  ['on a full disk', fullDisk, 'No space left on device'],
  ['without the right to', 'revoke insert on audit.acts from kiosk402_store', 'permission denied'],
])('an act that cannot be noted %s is refused', async (_, sql, message) => {
  await admin.query(sql)
  await expect(stop()).rejects.toThrow(message)
  expect(await turns()).toBe(1)
})

test.each([
  `update audit.acts set by = 'nobody'`,
  'delete from audit.acts',
  'truncate audit.acts',
  'drop table audit.acts',
  'drop schema audit cascade',
  'alter table audit.acts disable trigger all',
  'alter table audit.acts rename to other',
  'create trigger t before insert on audit.acts execute function refuse_change()',
  'create table audit.more ()',
  `insert into audit.acts (at, by, act, subject) values ('2020-01-01', 'a', 'b', 'c')`,
  'set role kiosk402_audit',
  'set session_replication_role = replica',
  'grant kiosk402_audit to current_user',
  'reassign owned by kiosk402_audit to current_user',
])('the role of the store cannot %s', async (sql) => {
  await stop()
  await expect(database.query(sql)).rejects.toThrow(/permission denied|must be owner/)
  expect(await acts()).toHaveLength(1)
})

test('only a role that cannot change its audit takes real money', async () => {
  expect(await auditProblem(database)).toBeUndefined()
  expect(await auditProblem(admin)).toMatch(/superuser/)
})

test('an administrator who is no superuser takes over the audit that a store has made', async () => {
  const [poor, administrator] = ['poor', 'administrator'].map((name) => `${name}_${process.pid}`)
  const { options } = admin as unknown as { options: { connectionString: string } }
  const url = new URL(await createDatabase(options.connectionString))
  onTestFinished(() => dropDatabase(options.connectionString, url.href))
  const name = url.pathname.slice(1)
  await admin.query(`
    create role ${administrator} login createrole password 'x';
    grant kiosk402_audit to ${administrator} with admin option;
    set role ${administrator}; create role ${poor} login password 'x'; reset role`)
  await admin.query(`alter database ${name} owner to ${poor}`)
  const sql = await readFile('deploy/audit.sql', 'utf8')
  const store = as(url, poor)

  await store.query(sql)
  expect(await auditProblem(store)).toMatch(/psql .*deploy\/audit\.sql/)

  const other = as(url, administrator)
  await other.query(sql)
  await other.query(sql)
  expect(await auditProblem(store)).toBeUndefined()
  await expect(store.query('drop table audit.acts')).rejects.toThrow('must be owner')
})

function as(url: URL, username: string | undefined): Pool {
  const { href } = Object.assign(new URL(url), { username, password: 'x' })
  const pool = openDatabase(href, { applicationName: 'test', poolSize: 1, onError: () => {} })
  onTestFinished(() => pool.end())
  return pool
}

describe('the settings of a node that starts', () => {
  const start = (settings: Record<string, string>, node = 'shop-1:8402') =>
    noteSettings(database, node, { version: '1.0.0', ...settings })

  test('are noted when they change: from what to what, by the node', async () => {
    await start({ MARKUP_BPS: '100', GAS_KEY: 'digest a' })
    await start({ MARKUP_BPS: '100', GAS_KEY: 'digest a' })
    await start({ GAS_KEY: 'digest b', PORT: '80' })
    expect(await acts()).toMatchObject([
      {
        ...{ by: 'node shop-1:8402', act: 'settings' },
        before: { MARKUP_BPS: '100', GAS_KEY: 'digest a', PORT: null },
        after: { MARKUP_BPS: null, GAS_KEY: 'digest b', PORT: '80' },
      },
      { before: null, after: { version: '1.0.0', MARKUP_BPS: '100', GAS_KEY: 'digest a' } },
    ])
  })

  test('are compared with its own; those of a new node with the last that are known', async () => {
    await start({ MARKUP_BPS: '100' })
    await start({ MARKUP_BPS: '100' }, 'shop-2:8402')
    await start({ MARKUP_BPS: '200' }, 'shop-3:8402')
    await start({ MARKUP_BPS: '200' }, 'shop-1:8402')
    await start({ MARKUP_BPS: '200' }, 'shop-1:8402')
    const change = { before: { MARKUP_BPS: '100' }, after: { MARKUP_BPS: '200' } }
    expect(await acts()).toMatchObject([
      { by: 'node shop-1:8402', ...change },
      { by: 'node shop-3:8402', ...change },
      { by: 'node shop-1:8402', after: { MARKUP_BPS: '100' } },
    ])
  })
})

test('the audit says that the denylist was changed and why, and nobody whom it names', async () => {
  const parties = ['+4915112345678', 'ada@example.com']
  const change = { isDenied: true, parties, reason: 'Asked to be' }
  await changeDenied({ database, by: 'anna' }, change)
  await changeDenied({ database, by: 'anna' }, change)
  const all = await acts()
  expect(all).toMatchObject([
    { by: 'anna', act: 'denylist add', subject: 'denylist:hand', after: { parties: 2 } },
  ])
  expect(JSON.stringify(all)).not.toMatch(/4915|ada@/)
})

test('an acknowledged movement is an act', async () => {
  const transaction = `0x${'a'.repeat(64)}`
  const [from, to] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const
  const transfer = { transaction, block: 1, logIndex: 0, from, to, amount: usdc(1_500_000n) }
  await createMovements(database).acknowledge(transfer, { reason: 'to the safe', by: 'anna' })
  expect(await acts()).toMatchObject([
    {
      ...{ by: 'anna', act: 'reconcile acknowledge', subject: `transaction:${transaction}` },
      ...{ after: { from, to, amountUsdc: '1.50' }, reason: 'to the safe' },
    },
  ])
})

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import { migrate } from '../../src/adapters/storage/migrate.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, buy, eventually, get } from './requests.ts'
import { openSibling, openStore, type Store } from './store.ts'

// A newer version changes the tables while a node of this one sells, and this one may start again.

let store: Store
let newer: string
let pool: pg.Pool

beforeAll(async () => {
  store = await openStore()
  pool = openDatabase(store.databaseUrl, {
    applicationName: 'newer',
    poolSize: 1,
    onError: () => undefined,
  })
  newer = await mkdtemp(join(tmpdir(), 'kiosk402-newer-'))
  await cp(new URL('../../src/adapters/storage/migrations/', import.meta.url), newer, {
    recursive: true,
  })
})
afterAll(async () => {
  await pool.end()
  await rm(newer, { recursive: true })
  await store.close()
})

async function upgrade(name: string, sql: string): Promise<readonly string[]> {
  await writeFile(join(newer, name), sql)
  return migrate(pool, pathToFileURL(`${newer}/`))
}

/** What a buyer hears, and what the balancer hears beside it. */
async function purchase(node: { readonly url: string }) {
  const buyer = await newBuyer()
  const { answer } = await buy(node, buyer, 'voucher', bodyFor('voucher', 'OK'))
  const ready = await get(node.url, '/readyz')
  const offers = await get(node.url, '/ai/vouchers')
  return [answer.status, answer.body.orders?.[0]?.state, ready.status, offers.status]
}

const sold = [200, 'FULFILLED', 200, 200]

test('a table is changed while a long transaction uses it, and buyers notice nothing', async () => {
  const report = new pg.Client(store.databaseUrl)
  await report.connect()
  await report.query('begin; select count(*) from orders')
  const upgrading = upgrade('998-first.sql', 'alter table orders add column newer text')
  const waiting = `select from pg_stat_activity where application_name = 'newer'
    and wait_event_type = 'Lock'`
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await eventually(
      () => store.query(waiting),
      (rows) => rows.length === 1,
    )
    expect(await purchase(store)).toEqual(sold)
  }
  await report.end()
  expect(await upgrading).toEqual(['998-first.sql'])
  expect(await purchase(store)).toEqual(sold)
})

test('this version starts again on what the next one has added, and sells', async () => {
  const again = await openSibling(store)
  expect(await purchase(again)).toEqual(sold)
  await again.close()
})

test('it refuses to start when what it uses was taken away in a second step', async () => {
  await upgrade(
    '999-second.sql',
    '-- second step of 998-first.sql\nalter table orders drop column newer',
  )
  await expect(openSibling(store)).rejects.toThrow(
    /DATABASE_URL: .*"999-second.sql" takes away what this version uses/,
  )
})

import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestPostgres } from './test-postgres.ts'
import { startTestPostgres } from './test-postgres.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())

async function rows(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

it('gives each test a database of its own, as a copy if wanted', async () => {
  const base = await postgres.createDatabase()
  await rows(base, 'create table brand as select 42 as id')
  const [copy, empty] = await Promise.all([
    postgres.createDatabase(base),
    postgres.createDatabase(),
  ])
  await rows(copy, 'insert into brand values (43)')

  expect(await rows(copy, 'select id from brand order by id')).toEqual([[42], [43]])
  expect(await rows(base, 'select id from brand')).toEqual([[42]])
  await expect(rows(empty, 'select id from brand')).rejects.toThrow('does not exist')
})

it('leaves neither process nor files behind', async () => {
  const other = await startTestPostgres()
  const [[folder]] = (await rows(other.databaseUrl, 'show data_directory')) as [[string]]
  expect(existsSync(folder)).toBe(true)

  await other.stop()

  expect(existsSync(folder)).toBe(false)
  // Its port may now belong to the server of another test, which knows neither its user nor its password.
  await expect(rows(other.databaseUrl, 'select 1')).rejects.toThrow()
})

import dns from 'node:dns'
import pg from 'pg'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import {
  inTransaction,
  isOutage,
  isRefused,
  openDatabase,
  restored,
  storable,
  type Trouble,
  troubleIn,
} from './database.ts'
import { migratedPostgres } from './migrated.fixture.ts'

const postgres = migratedPostgres()

/** An error as pg makes it from a server with German messages. */
function fromServer(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('Meldung', 7, 'error')
  return Object.assign(error, { code, severity: 'FEHLER' })
}

const fromNetwork = (code: string) => Object.assign(new Error('connect'), { code })

describe('a statement that failed', () => {
  test.each([
    ['23505', 'a row that is there already'],
    ['23514', 'a check'],
    ['P0001', 'a trigger'],
    ['40001', 'a serialization failure'],
    ['53100', 'a full disk'],
    ['25006', 'a standby'],
    ['57014', 'a statement that took too long'],
    ['22P05', 'a letter that the encoding lacks'],
  ])('was not carried out after %s, %s, in any language', (code) => {
    expect(isRefused(fromServer(code))).toBe(true)
  })

  test.each([
    ['57P01', 'a shutdown'],
    ['57P02', 'a crash'],
    ['08006', 'a broken connection'],
    ['25P03', 'a session that idled'],
    ['40003', 'an unknown completion'],
    ['XX000', 'a fault of the server'],
    ['58030', 'a failed write to its disk'],
  ])('may have been carried out after %s, %s', (code) => {
    expect(isRefused(fromServer(code))).toBe(false)
  })

  test('may have been carried out when it is not the server that says why', () => {
    expect(isRefused(fromNetwork('ECONNRESET'))).toBe(false)
    expect(isRefused(new Error('Query read timeout'))).toBe(false)
  })
})

describe('what a failed statement says of the server', () => {
  test.each(['57P01', '57P03', '08006', '58030'])('%s: it is away', (code) => {
    expect(troubleIn(fromServer(code))?.kind).toBe('away')
  })

  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'ETIMEDOUT'])(
    '%s: it is away',
    (code) => {
      expect(troubleIn(fromNetwork(code))?.kind).toBe('away')
    },
  )

  test.each(['25006', '53100'])('%s: it takes no writes', (code) => {
    expect(troubleIn(fromServer(code))?.kind).toBe('unwritable')
  })

  test.each(['23505', 'P0001', '57014', '53300', '40P01'])('%s: nothing', (code) => {
    expect(troubleIn(fromServer(code))).toBeUndefined()
  })

  test('a wait that was too long, and what is no error: nothing', () => {
    expect(troubleIn(new Error('Query read timeout'))).toBeUndefined()
    expect(troubleIn('ECONNREFUSED')).toBeUndefined()
  })
})

function opened(url: string) {
  const told: Trouble['kind'][] = []
  const pool = openDatabase(url, {
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
    onTrouble: ({ kind }) => told.push(kind),
  })
  onTestFinished(() => pool.end())
  return { pool, told }
}

const urlOf = (pool: pg.Pool) => String(pool.options.connectionString)

test('a connection outlives what the server refuses on it, and nothing that it may still do', async () => {
  const { pool } = opened(urlOf(await postgres.open()))
  const session = async () => (await pool.query('select pg_backend_pid() as id')).rows[0].id
  const first = await session()
  await expect(pool.query('select 1 / 0')).rejects.toThrow('division by zero')
  expect(await session()).toBe(first)
  const sleep = { text: 'select pg_sleep(5)', query_timeout: 50 }
  await expect(pool.query(sleep)).rejects.toThrow('Query read timeout')
  expect(await session()).not.toBe(first)
})

describe('the troubles of a pool', () => {
  test('are told with a reason for each address of a server that is away', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]
    const lookup = vi.spyOn(dns, 'lookup')
    onTestFinished(() => lookup.mockRestore())
    lookup.mockImplementation(((_: string, __: object, done: (...found: unknown[]) => void) =>
      done(null, addresses)) as never)
    const { pool, told } = opened('postgres://nobody@localhost:1/none')
    const error = await pool.query('select 1').catch((reason: Error) => reason)
    expect(error).toMatchObject({
      message: 'connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.2:1',
    })
    expect(isOutage(error)).toBe(true)
    expect(told).toEqual(['away'])
  })

  test.each(['postgres://nobody@database.invalid/none', 'postgres://nobody@/none?host=/nowhere'])(
    'are told of a server that has no address any more: %s',
    async (url) => {
      const { pool, told } = opened(url)
      expect(isOutage(await pool.query('select 1').catch((reason: Error) => reason))).toBe(true)
      expect(told).toEqual(['away'])
    },
  )

  test('are told where a statement of a transaction meets them', async () => {
    const { pool, told } = opened(urlOf(await postgres.open()))
    const writing = inTransaction(pool, async (client) => {
      await client.query('set transaction read only')
      await client.query('create table another (id int)')
    })
    await expect(writing).rejects.toThrow('read-only transaction')
    expect(told).toEqual(['unwritable'])
    await expect(pool.query('select from another')).rejects.toThrow('does not exist')
    expect(told).toEqual(['unwritable'])
  })
})

it('refuses numbers that JSON would turn into null', () => {
  expect(() => storable({ block: Number.NaN })).toThrow('NaN')
})

it('does not take a field for a tag that only looks like one', () => {
  expect(restored({ $date: '2026-01-01T00:00:00.000Z' })).toEqual(new Date('2026-01-01'))
  const two = { $date: 'a', $bigint: 'b' }
  expect(restored(two)).toEqual(two)
})

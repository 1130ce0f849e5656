import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { isRefused, troubleIn } from './database.ts'

/** As pg makes it of what a server sends whose messages are German. */
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

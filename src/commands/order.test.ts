import { expect, test } from 'vitest'
import { asked, fulfilled } from '../../test/fixtures/sample-orders.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { rehearsed } from '../adapters/storage/database.ts'
import { operatorOnDatabase } from '../operator/operator.fixture.ts'
import { type Act, type Context, UsageError } from './act.ts'
import { order } from './order.ts'
import { person } from './person.ts'

const store = operatorOnDatabase()

/** What an act says to Anna, who works on a live store. */
async function run(act: Act, line: string, isDryRun = false) {
  const context = {
    isDryRun,
    withOperator: (work: Parameters<Context['withOperator']>[0]) => {
      const anna = store.anna()
      const on = (database: typeof anna.database) => work({ ...anna, database })
      return isDryRun ? rehearsed(anna.database, on) : on(anna.database)
    },
  } as Context
  const { exit, lines } = await act.run(line.split(' '), context)
  return { exit, text: lines.join('\n') }
}

test('a buyer who names a phone number gets a new link', async () => {
  const { id } = await store.place(fulfilled(asked()))
  expect(await run(order, 'find 01512 345-6789')).toMatchObject({
    exit: 0,
    text: expect.stringMatching(
      new RegExp(`^2026-\\S+  ${id}  Test DE voucher  12.50 USDC  FULFILLED  by person$`),
    ),
  })
  const shown = (await run(order, `show ${id}`)).text
  expect(shown).toContain(`kiosk402 order resend ${id} --to ADDRESS`)
  expect((await run(order, `resend ${id} --reason lost`)).text).toContain(`/orders/${id}#kop_`)
  expect((await run(order, 'find +4915123456780')).exit).toBe(1)
})

test('a dry run prints no link, erases nobody, and leaves no trace', async () => {
  const { id } = await store.place(fulfilled(asked()))
  expect((await run(order, `resend ${id} --reason lost`, true)).text).toBe('Would print a link.')
  expect((await run(person, 'erase +4915123456789 --reason asked', true)).text).toContain(
    '1 orders',
  )
  expect((await run(order, 'find +4915123456789')).text).toContain(id)
  expect(await readActs(store.database(), { limit: 5 })).toEqual([])
})

test.each([
  ['find', 'needs a text'],
  ['resend ord_1', 'needs the id of an order'],
  [`resend ord_${'0'.repeat(26)}`, 'needs a reason'],
  ['show ord_1 --to ada@example.org', '--to is not for show'],
])('order %s is no command line', async (line, message) => {
  const error = await run(order, line).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(UsageError)
  expect(error).toHaveProperty('message', expect.stringContaining(message))
})

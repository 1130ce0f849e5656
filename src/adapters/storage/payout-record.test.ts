import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPayoutRecord } from './payouts.ts'
import { twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createPayoutRecord)
const record = () => nodes().store
const other = () => nodes().other
const reference = () => `ord_${randomBytes(13).toString('hex')}`

test('keeps whatever was seen, once each, and takes nothing away', async () => {
  const one = reference()
  await Promise.all([
    record().keep(one, { pullPayments: ['P1'], payouts: [] }),
    other().keep(one, { pullPayments: ['P2', 'P1'], payouts: ['O1'] }),
  ])
  await record().keep(one, { pullPayments: [], payouts: ['O1'] })
  const seen = await other().find(one)
  expect([...seen.pullPayments].sort()).toEqual(['P1', 'P2'])
  expect(seen.payouts).toEqual(['O1'])
  expect(await record().find(reference())).toEqual({ pullPayments: [], payouts: [] })
})

test('says once that a payout has waited too long, to one of two nodes', async () => {
  const one = reference()
  const ask = () => Promise.all([record().waits(one, 60_000), other().waits(one, 60_000)])
  expect(await ask()).toEqual([false, false])
  await nodes().pass(59_000)
  expect(await ask()).toEqual([false, false])
  await nodes().pass(2_000)
  expect((await ask()).sort()).toEqual([false, true])
  await nodes().pass(120_000)
  expect(await ask()).toEqual([false, false])
})

test('counts anew for one that did not wait in between', async () => {
  const one = reference()
  await record().keep(one, { pullPayments: ['P1'], payouts: [] })
  await record().waits(one, 60_000)
  await nodes().pass(61_000)
  await record().rests(one)
  expect(await record().waits(one, 60_000)).toBe(false)
  await nodes().pass(61_000)
  expect(await record().waits(one, 60_000)).toBe(true)
  expect((await record().find(one)).pullPayments).toEqual(['P1'])
})

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPayoutRecord } from './payouts.ts'
import { twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createPayoutRecord)
const record = () => nodes().store
const other = () => nodes().other
const reference = () => `ord_${randomBytes(13).toString('hex')}`

test('keeps whatever payouts were seen, once each, and takes nothing away', async () => {
  const one = reference()
  await Promise.all([record().keep(one, ['O1']), other().keep(one, ['O2', 'O1'])])
  await record().keep(one, ['O1'])
  expect([...(await other().find(one)).payouts].sort()).toEqual(['O1', 'O2'])
  expect(await record().find(reference())).toEqual({ pullPayment: null, payouts: [] })
})

test('has one choice for both of two nodes that choose at once, for good', async () => {
  const one = reference()
  const chosen = await Promise.all([record().choose(one, 'P1'), other().choose(one, 'P2')])
  expect(chosen[0]).toBe(chosen[1])
  expect(await record().choose(one, 'P3')).toBe(chosen[0])
  expect(await other().find(one)).toEqual({ pullPayment: chosen[0], payouts: [] })
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
  await record().choose(one, 'P1')
  await record().waits(one, 60_000)
  await nodes().pass(61_000)
  await record().rests(one)
  expect(await record().waits(one, 60_000)).toBe(false)
  await nodes().pass(61_000)
  expect(await record().waits(one, 60_000)).toBe(true)
  expect((await record().find(one)).pullPayment).toBe('P1')
})

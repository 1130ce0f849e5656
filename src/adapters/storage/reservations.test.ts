import { expect, it } from 'vitest'
import { maxConsideredMs } from '../../orders/ports.ts'
import { createReservationStore } from './limits.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createReservationStore)
const day = 86_400_000

it.each([true, false])('leave a payment to its first request (signed: %s)', async (signed) => {
  const { store, other } = nodes()
  expect(await store.reserve('a', 'one', signed)).toMatchObject({ request: 'one' })
  expect(await other.reserve('a', 'two', signed)).toMatchObject({ request: 'one' })
  expect(await other.reserve('a', 'one', signed)).toMatchObject({ request: 'one' })
  expect(await other.reserve('b', 'two', signed)).toMatchObject({ request: 'two' })
})

it('let the payer’s own signature take the place of what nobody is known to have signed', async () => {
  const { store, other } = nodes()
  expect(await store.reserve('a', 'by a stranger', false)).toMatchObject({
    request: 'by a stranger',
  })
  expect(await other.reserve('a', 'by the payer', true)).toMatchObject({
    request: 'by the payer',
  })
  expect(await store.reserve('a', 'by a stranger', false)).toMatchObject({
    request: 'by the payer',
  })
  expect(await store.reserve('a', 'another', true)).toMatchObject({ request: 'by the payer' })
})

it('give a payment to one of many requests at once, on two nodes', async () => {
  const held = await inTurn(nodes(), 16, (node, index) =>
    node.reserve('a', `request ${index}`, true),
  )
  expect(new Set(held.map(({ request }) => request)).size).toBe(1)
})

it('know for a while that a request came with a payment', async () => {
  const { store, other, pass } = nodes()
  expect(await store.isConsidered('a')).toBe(false)
  await store.reserve('a', 'one', true)
  expect(await other.isConsidered('a')).toBe(true)
  await pass(maxConsideredMs - 5_000)
  expect(await other.isConsidered('a')).toBe(true)
  await store.reserve('a', 'one', true)
  await pass(maxConsideredMs - 5_000)
  expect(await other.isConsidered('a')).toBe(true)
  await pass(10_000)
  expect(await other.isConsidered('a')).toBe(false)
  expect(await store.reserve('a', 'two', true)).toMatchObject({ request: 'one' })
})

it('know of equal requests until each has said that it opens no order', async () => {
  const { store, other, pass } = nodes()
  const held = await inTurn(nodes(), 6, (node) => node.reserve('a', 'one', true))
  const marks = held.map(({ mark }) => `${mark}`)
  expect(new Set(marks).size).toBe(6)
  const [last = '', ...rest] = marks
  for (const mark of rest) await other.release('a', mark)
  for (const mark of rest) await store.release('a', mark)
  expect(await store.isConsidered('a')).toBe(true)
  await store.release('a', last)
  expect(await other.isConsidered('a')).toBe(false)
  await store.reserve('a', 'one', true)
  await pass(maxConsideredMs - 5_000)
  const { mark } = await store.reserve('a', 'one', true)
  await store.release('a', `${mark}`)
  expect(await store.isConsidered('a')).toBe(true)
  await pass(10_000)
  expect(await store.isConsidered('a')).toBe(false)
})

it('are forgotten by their first request', async () => {
  const { store, pass, pool } = nodes()
  await store.reserve('old', 'one', true)
  await pass(day)
  await store.reserve('old', 'one', true)
  await store.reserve('new', 'one', true)
  const { rows } = await pool.query<{ now: Date }>('select now()')
  const before = new Date(Number(rows[0]?.now) - day + 60_000)
  expect(await store.forget(before)).toBe(1)
  expect(await store.reserve('old', 'two', true)).toMatchObject({ request: 'two' })
  expect(await store.reserve('new', 'two', true)).toMatchObject({ request: 'one' })
})

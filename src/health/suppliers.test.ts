import { expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../lib/money.ts'
import { type PartEvent, partChanges } from '../operations/reporter.ts'
import { createHealth } from './health.ts'
import { ample } from './means.fixture.ts'

const wallet = (available: bigint) => ({
  available: usdc(available),
  pending: usdc(0n),
  committed: usdc(0n),
  unconfirmed: usdc(0n),
})

/** A store that buys from two, with 100 in the wallet at each. */
function storeOfTwo() {
  const { now } = handClock()
  const health = createHealth(now)
  health.noteCatalog(now())
  const look = (changes: object = {}) => {
    const wallets = { zendit: wallet(100n), acme: wallet(100n), ...changes }
    health.noteMeans({ ...ample, cheapest: usdc(1n), funds: new Map(Object.entries(wallets)) })
  }
  look()
  for (const name of ['zendit', 'acme']) health.noteSupplier(name, true)
  const crash = (name: string) => {
    for (let time = 0; time < 3; time += 1) health.noteSupplier(name, false, 'timeout')
  }
  const unsold = (name: string, amount = 10n) => health.unsold(usdc(amount), name, true)
  return { health, look, crash, unsold, now }
}

test('a supplier that is down stops only its own offers', () => {
  const { health, crash, unsold } = storeOfTwo()
  crash('acme')
  expect([unsold('acme'), unsold('zendit')]).toEqual([{ type: 'supplier_paused' }, undefined])
  expect(health.signals().agent_action).toBe('pay')
  expect(health.parts().supplier).toEqual({ state: 'healthy', detail: 'acme: timeout' })
  crash('zendit')
  expect([unsold('acme'), unsold('zendit')]).toEqual([{ type: 'paused' }, { type: 'paused' }])
  expect(health.parts().supplier.state).toBe('down')
})

test('each wallet limits the purchases at its supplier', () => {
  const { health, look, unsold } = storeOfTwo()
  look({ acme: wallet(20n) })
  expect(unsold('acme', 21n)).toMatchObject({ type: 'too_large', bound: { max: 20n } })
  expect(unsold('zendit', 100n)).toBeUndefined()
  expect(health.bounds()[0]).toEqual({ by: 'supplier_funds', max: 100n })
  expect(health.sell('a', usdc(90n), 'zendit')).toBeUndefined()
  expect([unsold('acme', 20n), unsold('zendit', 11n)?.type]).toEqual([undefined, 'too_large'])
})

test('an unread wallet stops the sales of its supplier', () => {
  const { health, unsold, now } = storeOfTwo()
  health.noteMeans({ ...ample, funds: new Map([['zendit', wallet(100n)]]) }, now())
  expect([unsold('acme')?.type, unsold('zendit')]).toEqual(['supplier_paused', undefined])
})

test('refusals for insufficient funds close only their supplier', () => {
  const { health, unsold, now } = storeOfTwo()
  for (const reference of ['a', 'b']) health.noteFundsRefusal('acme', { reference, at: now() })
  expect([unsold('acme')?.type, unsold('zendit')]).toEqual(['supplier_paused', undefined])
})

test('reports to the operator when one of several suppliers goes down and comes up again', () => {
  const { health, crash } = storeOfTwo()
  const told: PartEvent[] = []
  const look = partChanges(health, (event) => told.push(event))
  crash('acme')
  look()
  look()
  health.noteSupplier('acme', true)
  look()
  const acme = { part: 'supplier', supplier: 'acme' } as const
  expect(told).toEqual([
    { name: 'part_down', ...acme, detail: 'timeout' },
    { name: 'part_up', ...acme, detail: 'timeout' },
  ])
})

import { describe, expect, it } from 'vitest'
import { consideredMostMs, type ReservationStore } from '../../src/orders/ports.ts'
import { inTurn, newForEach } from './two-nodes.ts'

/** Reservations of which there are none, as two nodes see them. */
export interface ReservationHarness {
  readonly store: ReservationStore
  readonly other: ReservationStore
  /** The time that they go by. */
  now(): Promise<Date>
  /** Lets that much time go by for all that was reserved. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

const day = 86_400_000

/** What every store of reservations promises (orders/ports.ts). */
export function describeReservations(name: string, start: () => Promise<ReservationHarness>): void {
  describe(`reservations of payments, ${name}`, () => {
    const harness = newForEach(start)

    it.each([true, false])('leave a payment to its first request (signed: %s)', async (signed) => {
      const { store, other } = harness()
      expect(await store.reserve('a', 'one', signed)).toBe('one')
      expect(await other.reserve('a', 'two', signed)).toBe('one')
      expect(await other.reserve('a', 'one', signed)).toBe('one')
      expect(await other.reserve('b', 'two', signed)).toBe('two')
    })

    it('let the payer’s own signature take the place of what nobody is known to have signed', async () => {
      const { store, other } = harness()
      expect(await store.reserve('a', 'by a stranger', false)).toBe('by a stranger')
      expect(await other.reserve('a', 'by the payer', true)).toBe('by the payer')
      expect(await store.reserve('a', 'by a stranger', false)).toBe('by the payer')
      expect(await store.reserve('a', 'another', true)).toBe('by the payer')
    })

    it('give a payment to one of many requests at once, on two nodes', async () => {
      const held = await inTurn(harness(), 16, (node, index) =>
        node.reserve('a', `request ${index}`, true),
      )
      expect(new Set(held).size).toBe(1)
    })

    it('know for a while that a request came with a payment', async () => {
      const { store, other, pass } = harness()
      expect(await store.isConsidered('a')).toBe(false)
      await store.reserve('a', 'one', true)
      expect(await other.isConsidered('a')).toBe(true)
      await pass(consideredMostMs - 5_000)
      expect(await other.isConsidered('a')).toBe(true)
      await store.reserve('a', 'one', true)
      await pass(consideredMostMs - 5_000)
      expect(await other.isConsidered('a')).toBe(true)
      await pass(10_000)
      expect(await other.isConsidered('a')).toBe(false)
      expect(await store.reserve('a', 'two', true)).toBe('one')
    })

    it('are forgotten by their first request', async () => {
      const { store, pass, now } = harness()
      await store.reserve('old', 'one', true)
      await pass(day)
      await store.reserve('old', 'one', true)
      await store.reserve('new', 'one', true)
      const before = new Date((await now()).getTime() - day + 60_000)
      expect(await store.forget(before)).toBe(1)
      expect(await store.reserve('old', 'two', true)).toBe('two')
      expect(await store.reserve('new', 'two', true)).toBe('one')
    })
  })
}

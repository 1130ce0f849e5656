import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PayoutRecord } from '../../src/checkouts/ports.ts'

export interface PayoutRecordHarness {
  readonly record: PayoutRecord
  readonly other: PayoutRecord
  /** Lets this much time pass. */
  pass(ms: number): unknown
}

/** The contract of `PayoutRecord`, also for two nodes at once. */
export function describePayoutRecord(
  name: string,
  start: () => Promise<PayoutRecordHarness> | PayoutRecordHarness,
): void {
  describe(`the record of payouts ${name}`, () => {
    let harness: PayoutRecordHarness
    beforeAll(async () => {
      harness = await start()
    })
    const reference = () => `ord_${randomBytes(13).toString('hex')}`

    test('knows nothing of what was never seen', async () => {
      expect(await harness.record.find(reference())).toEqual({ pullPayments: [], payouts: [] })
    })

    test('keeps whatever was seen, once each, and takes nothing away', async () => {
      const one = reference()
      await Promise.all([
        harness.record.keep(one, { pullPayments: ['P1'], payouts: [] }),
        harness.other.keep(one, { pullPayments: ['P2', 'P1'], payouts: ['O1'] }),
      ])
      await harness.record.keep(one, { pullPayments: [], payouts: ['O1'] })
      const seen = await harness.other.find(one)
      expect([...seen.pullPayments].sort()).toEqual(['P1', 'P2'])
      expect(seen.payouts).toEqual(['O1'])
      expect(await harness.record.find(reference())).toEqual({ pullPayments: [], payouts: [] })
    })

    test('says once that a payout has waited too long, to one of two nodes', async () => {
      const one = reference()
      const ask = () =>
        Promise.all([harness.record.waits(one, 60_000), harness.other.waits(one, 60_000)])
      expect(await ask()).toEqual([false, false])
      await harness.pass(59_000)
      expect(await ask()).toEqual([false, false])
      await harness.pass(2_000)
      expect((await ask()).sort()).toEqual([false, true])
      await harness.pass(120_000)
      expect(await ask()).toEqual([false, false])
    })

    test('counts anew for one that did not wait in between', async () => {
      const one = reference()
      await harness.record.keep(one, { pullPayments: ['P1'], payouts: [] })
      await harness.record.waits(one, 60_000)
      await harness.pass(61_000)
      await harness.record.rests(one)
      expect(await harness.record.waits(one, 60_000)).toBe(false)
      await harness.pass(61_000)
      expect(await harness.record.waits(one, 60_000)).toBe(true)
      expect((await harness.record.find(one)).pullPayments).toEqual(['P1'])
    })
  })
}

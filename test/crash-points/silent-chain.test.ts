import { expect, test } from 'vitest'
import { type X402Deps, x402Method } from '../../src/adapters/chain/x402.ts'
import type { X402Payment, X402Receipt, X402Refund } from '../../src/payments/payment.ts'

const never = () => new Promise<never>(() => {})
/** A part with every method, none of which ever answers. */
const silent = <T extends object>(known: T): T =>
  new Proxy(known, { get: (own, name) => Reflect.get(own, name) ?? never })

test('whatever is asked of a chain that never answers ends in time, and nothing is known', async () => {
  const x402 = x402Method(
    {
      chain: silent({ load: { isCrowded: () => false } }),
      evidence: silent({}),
      facilitator: silent({}),
      refunds: silent({}),
      now: () => new Date(0),
      maxHeadSeconds: 60,
    } as unknown as X402Deps,
    10,
  )
  const payment = {
    method: 'x402',
    payer: `0x${'1'.repeat(40)}`,
    validBefore: 600,
    signature: `0x${'4'.repeat(130)}`,
  } as X402Payment
  const said = await Promise.all([
    x402.isUnused(payment),
    x402.check(payment),
    x402.collect(payment),
    x402.confirmationOf(payment, {} as X402Receipt),
    x402.payBack({} as X402Refund),
  ])
  expect(said).toEqual([
    false,
    expect.objectContaining({ outcome: 'unknown', charged: 'unknown' }),
    expect.objectContaining({ outcome: 'unknown' }),
    'unknown',
    expect.objectContaining({ outcome: 'pending' }),
  ])
})

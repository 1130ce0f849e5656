import fc from 'fast-check'
import { kinds } from '../../src/catalog/good.ts'
import type { OfferId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { Order, Refund, Refunding, Supply } from '../../src/orders/order.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { pending } from './sample-orders.ts'

/** Plain objects, as the store makes them. */
function record<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>
}

/** Whatever a supplier or carrier may write: NULs and halves of surrogate pairs included. */
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', '\0', '\ud800', '{"$date":1}', "'; drop table orders; --", '\\u0000'),
)
const date = fc.date({
  min: new Date('2020-01-01'),
  max: new Date('2100-01-01'),
  noInvalidDate: true,
})
const whole = fc.integer({ min: 0 })
const amount = fc.bigInt({ min: 1n, max: 10n ** 38n }).map(usdc)
const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const sealed = fc.base64String({ minLength: 1 }).map((text) => `v1.${text}` as Sealed)

const item = fc
  .tuple(
    record({
      kind: fc.constantFrom(...kinds),
      offerId: fc.constant('OFFER' as OfferId),
      brandName: words,
    }),
    fc.record(
      { country: fc.constantFrom('DE', 'CU'), value: whole },
      { requiredKeys: [], noNullPrototype: true },
    ),
  )
  .map(([always, sometimes]) => ({ ...always, ...sometimes }))

const tender = fc
  .record({ amount, nonce: hash, validAfter: whole, validBefore: whole })
  .map((changes) => ({ ...pending().tender, ...changes }))

const ordered = record({
  item,
  recipient: fc.option(sealed, { nil: undefined }),
  fingerprint: hash,
  tender,
  amount,
  placedAt: date,
  changedAt: date,
}).map((changes) => {
  const { state: _, ...rest } = pending(changes)
  return rest
})

const paid = fc
  .tuple(
    ordered,
    record({
      settlement: fc.constantFrom('SEEN', 'FINAL', 'LOST'),
      receipt: record({ rail: fc.constant('x402' as const), transaction: hash, block: whole }),
      paidAt: date,
      deliverBy: date,
    }),
  )
  .map(([before, more]) => ({ ...before, ...more }))

/** All steps but SIGNED, which no order comes to without a grant: `anySigned`. */
const refund: fc.Arbitrary<Refund> = fc.oneof(
  record({ step: fc.constant('WAITING' as const), signAt: date }),
  record({ step: fc.constant('DUE' as const) }),
  record({ step: fc.constant('REFUNDED' as const), transaction: hash, refundedAt: date }),
  record({ step: fc.constant('FAILED' as const), code: words, reason: words }),
)

const supply: fc.Arbitrary<Supply> = fc.oneof(
  fc.constant({ state: 'NONE', unheard: true } as const),
  record({ state: fc.constantFrom('OPEN', 'NONE', 'RETURNED', 'LOST') }),
  record({ state: fc.constant('OPEN' as const), askedBackAt: date }),
)

const asking = fc.record(
  { askedAgainAt: date, acceptedAt: date },
  { requiredKeys: [], noNullPrototype: true },
)

/** What the supplier accepted is not given up for its silence, so it has no such trigger here. */
const givenUp = fc
  .tuple(
    record({
      failure: record({
        trigger: fc.constantFrom('fulfillment_failed', 'expired'),
        code: words,
        message: words,
      }),
      refund,
      supply,
    }),
    asking,
  )
  .map(([always, sometimes]) => ({ ...always, ...sometimes }))

/** Orders of every state, with nearly every refund step and awkward text. Ids are new each time. */
export const anyOrder: fc.Arbitrary<Order> = fc.oneof(
  ordered.map((rest): Order => ({ ...rest, state: 'PAYMENT_PENDING' })),
  fc
    .tuple(ordered, words, words)
    .map(([rest, code, reason]): Order => ({ ...rest, state: 'PAYMENT_FAILED', code, reason })),
  paid.map((rest): Order => ({ ...rest, state: 'PAID' })),
  fc
    .tuple(paid, date, asking)
    .map(([rest, askedAt, more]): Order => ({ ...rest, state: 'FULFILLING', askedAt, ...more })),
  fc.tuple(paid, sealed, date, fc.option(hash, { nil: undefined })).map(
    ([rest, delivery, deliveredAt, digest]): Order => ({
      ...rest,
      state: 'FULFILLED',
      delivery,
      deliveredAt,
      ...(digest === undefined ? {} : { iccidDigest: digest }),
    }),
  ),
  fc
    .tuple(paid, givenUp, fc.constantFrom('FULFILLMENT_FAILED' as const, 'EXPIRED' as const))
    .map(([rest, more, state]): Order => ({ ...rest, ...more, state })),
)

/** Orders whose refund is signed and on its way: the payer's, and all that was paid. */
export const anySigned: fc.Arbitrary<Refunding> = fc
  .tuple(
    paid,
    givenUp,
    fc.constantFrom('FULFILLMENT_FAILED' as const, 'EXPIRED' as const),
    record({ from: hash, nonce: hash, validBefore: whole, signature: words, sinceBlock: whole }),
  )
  .map(([rest, more, state, own]): Refunding => {
    const signed = { ...own, rail: 'x402' as const, to: rest.tender.payer, amount: rest.amount }
    return { ...rest, ...more, state, settlement: 'FINAL', refund: { step: 'SIGNED', signed } }
  })

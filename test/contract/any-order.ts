import fc from 'fast-check'
import { kinds } from '../../src/catalog/good.ts'
import type { OfferId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { Order, Refunding, Supply } from '../../src/orders/order.ts'
import type { Payout } from '../../src/orders/payout.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { pending } from './sample-orders.ts'

/** An arbitrary of plain objects, as the store makes them. */
function record<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>
}

/** Any text that a supplier may send, including NULs and lone surrogates. */
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
      source: record({ supplier: words, product: words }),
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

/** All states except APPROVED, which needs a grant; see `anySigned`. */
const payout: fc.Arbitrary<Payout> = fc.oneof(
  record({ state: fc.constant('DUE' as const) }),
  record({ state: fc.constant('CONFIRMED' as const), transaction: hash, confirmedAt: date }),
  record({ state: fc.constant('FAILED' as const), code: words, reason: words }),
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

/** No `upstream_timeout`: an order that the supplier has accepted is not given up for its silence. */
const givenUp = fc
  .tuple(
    record({
      failure: record({
        trigger: fc.constantFrom('fulfillment_failed', 'expired'),
        code: words,
        message: words,
      }),
      supply,
    }),
    asking,
  )
  .map(([always, sometimes]) => ({ ...always, ...sometimes }))

const refunding = fc.constantFrom('FULFILLMENT_FAILED' as const, 'EXPIRED' as const)

/** Orders of every state, with every payout except APPROVED and with awkward text. Ids are new each time. */
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
    .tuple(paid, givenUp, payout, refunding)
    .map(([rest, more, payout, state]): Order => ({ ...rest, ...more, payout, state })),
  fc
    .tuple(paid, givenUp, date)
    .map(([rest, more, refundAt]): Order => ({ ...rest, ...more, refundAt, state: 'EXPIRED' })),
)

/** Orders with a signed refund of the whole amount to the payer. */
export const anySigned: fc.Arbitrary<Refunding> = fc
  .tuple(
    paid,
    givenUp,
    refunding,
    record({ from: hash, nonce: hash, validBefore: whole, signature: words, sinceBlock: whole }),
  )
  .map(([rest, more, state, own]): Refunding => {
    const { network, payer: to } = rest.tender
    const signed = { ...own, rail: 'x402' as const, network, to, amount: rest.amount }
    return { ...rest, ...more, state, settlement: 'FINAL', payout: { state: 'APPROVED', signed } }
  })

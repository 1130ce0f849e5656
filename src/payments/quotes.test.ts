import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import type { OfferId } from '../lib/ids.ts'
import { type Cents, cents, usdc } from '../lib/money.ts'
import { createSigner } from '../secrets/secrets.ts'
import { createQuotes } from './terms.ts'

const key = Buffer.alloc(32, 1)
const offer = 'AMZ_US_OPEN' as OfferId
const other = 'AMZ_US_25' as OfferId
const amount = usdc('26250000')
const of = (id: OfferId, value?: Cents, units = 'USD/100') => ({ offer: id, value, units })

function payee(purpose = 'quote', keys = [key]) {
  const clock = handClock(new Date('2026-01-05T12:00:00.500Z'))
  return { clock, quotes: createQuotes(createSigner(keys, purpose), clock.now) }
}

const anyOffer = fc.constantFrom(offer, other, '' as OfferId)
const anyValue = fc.option(fc.nat(2).map(cents), { nil: undefined })

describe('our promise of a price', () => {
  test('tells for how long it still holds', () => {
    const { quotes, clock } = payee()
    const text = quotes.promise(of(offer, undefined), amount)
    expect(quotes.secondsLeft(text)).toBe(300)
    clock.pass(299_000)
    expect(quotes.secondsLeft(text)).toBe(1)
    clock.pass(60_000)
    expect(quotes.secondsLeft(text)).toBe(0)
    for (const other of [
      undefined,
      '',
      7,
      `${text}x`,
      payee('other').quotes.promise(of(offer, undefined), amount),
    ]) {
      expect(quotes.secondsLeft(other)).toBe(0)
    }
  })

  test('holds for its own offer and value, and for nothing else', () => {
    const { quotes } = payee()
    fc.assert(
      fc.property(
        anyOffer,
        anyValue,
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        anyOffer,
        anyValue,
        fc.constantFrom('USD/100', 'EUR/100', 'USD/1'),
        (promisedFor, value, atomic, askedFor, asked, units) => {
          const text = quotes.promise(of(promisedFor, value), usdc(atomic))
          const same = promisedFor === askedFor && value === asked && units === 'USD/100'
          expect(quotes.promised(text, of(askedFor, asked, units))).toBe(same ? atomic : undefined)
          expect(quotes.promised(text, of(promisedFor, value))).toBe(atomic)
        },
      ),
    )
  })

  test('without a value is not one with the value 0', () => {
    const { quotes } = payee()
    expect(
      quotes.promised(quotes.promise(of(offer, undefined), amount), of(offer, cents(0))),
    ).toBeUndefined()
    expect(
      quotes.promised(quotes.promise(of(offer, cents(0)), amount), of(offer, undefined)),
    ).toBeUndefined()
  })

  test('holds for 300 s', () => {
    const { quotes, clock } = payee()
    const text = quotes.promise(of(offer, undefined), amount)
    clock.pass(300_000)
    expect(quotes.promised(text, of(offer, undefined))).toBe(amount)
    clock.pass(1_000)
    expect(quotes.promised(text, of(offer, undefined))).toBeUndefined()
  })

  test('is kept by every node with the same keys, and by no other', () => {
    const text = payee().quotes.promise(of(offer, undefined), amount)
    expect(payee().quotes.promised(text, of(offer, undefined))).toBe(amount)
    const stranger = payee('quote', [Buffer.alloc(32, 2)])
    expect(stranger.quotes.promised(text, of(offer, undefined))).toBeUndefined()
    expect(payee('other').quotes.promised(text, of(offer, undefined))).toBeUndefined()
  })

  test('is not made by anybody else', () => {
    const { quotes, clock } = payee()
    const until = Math.floor(clock.now().getTime() / 1_000) + 300
    const body = Buffer.from(JSON.stringify([offer, null, '1', until])).toString('base64url')
    const [, mac] = quotes.promise(of(offer, undefined), amount).split('.')
    for (const forged of [body, `${body}.`, `${body}.${mac}`, `${body}.${body}`]) {
      expect(quotes.promised(forged, of(offer, undefined))).toBeUndefined()
    }
  })

  test.each([undefined, null, 1, '', {}, [], ['a'], { toString: () => 'a.b' }, true])(
    'is not %j',
    (text) => {
      expect(payee().quotes.promised(text, of(offer, undefined))).toBeUndefined()
    },
  )
})

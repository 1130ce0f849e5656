import { expect, test } from 'vitest'
import { handClock } from '../../../test/doubles/orders.ts'
import type { OfferId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { Refusal } from '../../lib/refusal.ts'
import { createQuotes, termsValidSeconds } from '../../payments/terms.ts'
import { createEnvelope, createSigner } from '../../secrets/secrets.ts'
import { openPayable, payableUrl } from './payable-url.ts'

const key = Buffer.alloc(32, 7)
const clock = handClock()
const quotes = createQuotes(createSigner([key], 'quote'), clock.now)
const storeWith = (secret: Buffer) => ({
  site: { url: 'https://store.example' },
  envelope: createEnvelope([secret], 'payable-url'),
})
const store = storeWith(key)
const fields = { offerId: 'CARD', firstName: 'Ada', lastName: 'Lovelace' }
const what = { offer: 'CARD' as OfferId, value: undefined, units: 'USD/100' }
const promise = quotes.promise(what, usdc(500_000n))

const sealedOf = (url: string | undefined) => /\/x402\/([\w-]+)$/.exec(url ?? '')?.[1] ?? ''

test('an address is short, opens to its purchase, and ends with its quote', () => {
  const url = payableUrl(store, { fields, promise })
  expect(url?.length).toBeLessThan(380)
  const open = () => openPayable(store, { quotes }, sealedOf(url))
  expect(open()).toMatchObject({ url, fields, sealed: { promise }, ended: undefined })
  clock.pass(termsValidSeconds * 1_000 + 1_000)
  expect(open().ended).toMatchObject({ code: 'quote_expired' })
})

test('no two addresses are the same, so each buys for itself', () => {
  const [one, other] = [0, 1].map(() => sealedOf(payableUrl(store, { fields, promise })))
  const addressOf = (text = '') => openPayable(store, { quotes }, text).sealed.address
  expect(addressOf(one)).toBe(addressOf(one))
  expect(addressOf(one)).not.toBe(addressOf(other))
})

test('fields that make it longer than proxies take have none', () => {
  const long = { ...fields, webhookUrl: `https://hooks.example.com/${'x'.repeat(800)}` }
  expect(payableUrl(store, { fields: long, promise })).toBeUndefined()
})

test('the address of another store is none here', () => {
  const foreign = sealedOf(payableUrl(storeWith(Buffer.alloc(32, 8)), { fields, promise }))
  expect(() => openPayable(store, { quotes }, foreign)).toThrow(Refusal)
})

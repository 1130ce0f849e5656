import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import {
  extractOffersFromPaymentRequired,
  isJWSSignedOffer,
  verifyOfferSignatureJWS,
} from '@x402/extensions/offer-receipt'
import { validatePaymentIdentifier } from '@x402/extensions/payment-identifier'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { fixed, fixturePricing, open, voucher } from '../../../test/fixtures/offers.ts'
import { fieldOfKey } from '../../catalog/kinds/voucher-fields.ts'
import { type Kind, kinds } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { type ExampleBody, exampleBody, kindSchemaFor } from '../../catalog/purchase-body.ts'
import type { Signals } from '../../health/verdict.ts'
import { answer402, httpTransport, indexedTransport } from '../../http/call.ts'
import type { OfferId } from '../../lib/ids.ts'
import { cents, usdc, usdcFromCents } from '../../lib/money.ts'
import { fixturePayee } from '../../payments/payments.fixture.ts'
import { createQuotes, termsOf } from '../../payments/terms.ts'
import { createSigner, createSigningKeys, type PublicJwk } from '../../secrets/secrets.ts'
import type { PaymentRequiredDeps, Site } from '../operation.ts'
import {
  createIssuer,
  type PaymentRequest,
  type PaymentTransport,
  paymentRequired,
  purchaseSentence,
} from './payment-required.ts'

const secret = Buffer.alloc(32, 5)
const now = new Date('2026-03-02T10:00:00Z')
const keys = createSigningKeys([secret], 'receipts')
const quotes = createQuotes(createSigner([secret], 'quote'), () => now)

/** The published key of a store with this secret. */
function jwkOf(secret: number): PublicJwk {
  const [jwk] = createSigningKeys([Buffer.alloc(32, secret)], 'receipts').published
  if (jwk === undefined) throw new Error('There is no key')
  return { ...jwk }
}

/** Everything that a body can hold, and the longest id of an offer. */
const offerId = 'X'.repeat(48)
const longestExample: Readonly<Record<Kind, ExampleBody>> = {
  voucher: {
    ...{ offerId, firstName: 'Ada', lastName: 'Lovelace' },
    ...{ email: 'ada@example.com', country: 'US', value: 12.5 },
  },
  topup: { offerId, msisdn: '+502555512341234', value: 12.5 },
  esim: { offerId },
}

const address = (characters: number) => 'https://kiosk.example/x402/'.padEnd(characters, 'x')

/** A 402 as it goes out over HTTP. */
async function demanded(
  changes: Partial<PaymentRequest> = {},
  named: Partial<Site> = {},
  agent_action: Signals['agent_action'] = 'retry_later',
  transport = httpTransport,
) {
  const { url = 'https://kiosk.example' } = named
  const site = { url, logo: `${url}/logo.svg`, name: 'Kiosk', ...named } as Site
  const quote = quotes.promise(
    { offer: 'OFFER' as OfferId, value: cents(2_500), units: 'USD/100' },
    usdc('26250000'),
  )
  const deps: PaymentRequiredDeps = {
    site,
    issuer: createIssuer(site, keys),
    signals: () => ({
      provider_health: 'degraded',
      agent_action,
      last_updated: now.toISOString(),
    }),
    fulfillmentDeadlineSeconds: 600,
  }
  const demanded = await paymentRequired(deps, transport, {
    kind: 'voucher',
    accepts: [termsOf(usdc('26250000'), fixturePayee, quote)],
    validSeconds: 300,
    error: 'Payment required',
    description: 'A card',
    example: longestExample[changes.kind ?? 'voucher'],
    ...changes,
  })
  const app = Fastify()
  app.post('/', (_, reply) => answer402(reply, demanded.required, demanded.more))
  const { headers, ...answer } = await app.inject({ method: 'POST', url: '/' })
  const header = String(headers['payment-required'])
  const required = JSON.parse(Buffer.from(header, 'base64').toString())
  return { header, required, body: answer.json() }
}

describe.each(kinds)('the 402 of a %s', (kind: Kind) => {
  test('describes its route as the package of the index wants it', async () => {
    expect((await demanded({ kind })).required.extensions).not.toHaveProperty('bazaar')
    const { required } = await demanded({ kind }, {}, 'retry_later', indexedTransport)
    const { bazaar } = required.extensions
    expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true })
    expect(bazaar.info.input).toMatchObject({ type: 'http', method: 'POST', bodyType: 'json' })
    expect(bazaar).not.toHaveProperty('routeTemplate')
    expect(bazaar.schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        input: {
          required: ['type', 'method', 'bodyType', 'body'],
          additionalProperties: false,
          properties: { body: { required: expect.arrayContaining(['offerId']) } },
        },
      },
    })
    const { input } = bazaar.info
    const wrong = [
      ...[{ type: 'mcp' }, { method: 'GET' }, { bodyType: 'text' }, { body: {} }, { more: 1 }].map(
        (changed) => ({ ...bazaar.info, input: { ...input, ...changed } }),
      ),
      { ...bazaar.info, input: { method: 'POST', body: input.body } },
    ]
    for (const info of wrong)
      expect(validateDiscoveryExtension({ ...bazaar, info }).valid).toBe(false)
  })

  test('names itself within the limits of the index', async () => {
    const { resource } = (
      await demanded({ kind }, { name: 'Käfer und Söhne, Gutscheine aller Art' })
    ).required
    expect(resource.serviceName).toMatch(/^[\x20-\x7e]{1,32}$/)
    const foreign = await demanded({ kind }, { name: 'ギフト' })
    expect(foreign.required.resource).not.toHaveProperty('serviceName')
    expect(resource.tags.length).toBeLessThanOrEqual(5)
    expect(resource.iconUrl).toBe('https://kiosk.example/logo.svg')
    for (const tag of resource.tags) expect(tag).toMatch(/^[\x20-\x7e]{1,32}$/)
    expect([...resource.description].length).toBeLessThan(500)
  })

  test('states delivery, refunds and health beside the price, complete', async () => {
    const { required } = await demanded({ kind })
    expect(required.extensions).not.toHaveProperty('x402-signals')
    expect(required.accepts[0].extensions).toEqual({
      'x402-signals': {
        fulfillment_policy: {
          version: '0.2',
          mode: 'instant',
          fulfillment_deadline_seconds: 600,
          status_endpoint: '/api/catalog/orders/{orderId}',
          retry_after_seconds: 5,
        },
        refund_policy: {
          version: '0.2',
          mode: 'instant',
          type: kind === 'voucher' ? 'none' : 'automatic',
          triggers: ['fulfillment_failed', 'upstream_timeout', 'expired'],
          refund_to: 'original_payer',
          refund_endpoint: '/api/catalog/orders/{orderId}/refund',
          refund_deadline_seconds: 86_400,
          refund_claim_deadline_seconds: null,
          partial_refunds_supported: false,
          idempotency_required: true,
          compensating_actions_optional: false,
          refund_policy_by_state: {
            FULFILLED: { type: 'none' },
            FULFILLMENT_FAILED: {
              type: 'automatic',
              triggers: ['fulfillment_failed', 'upstream_timeout'],
            },
            EXPIRED: { type: 'automatic', triggers: ['expired'] },
          },
        },
        signals: {
          provider_health: 'degraded',
          agent_action: 'retry_later',
          last_updated: now.toISOString(),
        },
      },
    })
  })

  test('takes a payment identifier, and needs none', async () => {
    const extension = (await demanded({ kind })).required.extensions['payment-identifier']
    const withId = (id: string) => ({ ...extension, info: { ...extension.info, id } })
    expect(validatePaymentIdentifier(extension).valid).toBe(true)
    expect(validatePaymentIdentifier(withId('pay_0123456789abcdef')).valid).toBe(true)
    expect(validatePaymentIdentifier(withId('short')).valid).toBe(false)
    expect(extension.schema).toMatchObject({ required: ['required'] })
    expect(validatePaymentIdentifier({ ...extension, info: {} }).valid).toBe(false)
  })

  test('offers its terms, signed, at the public address', async () => {
    const { required } = await demanded({ kind, validSeconds: 120 })
    const [offer, ...others] = extractOffersFromPaymentRequired(required)
    if (offer === undefined || !isJWSSignedOffer(offer)) throw new Error('There is no offer')
    expect(others).toEqual([])
    const before = Math.floor(Date.now() / 1_000)
    const { validUntil, ...said } = await verifyOfferSignatureJWS(offer, jwkOf(5))
    const { scheme, network, asset, payTo, amount } = required.accepts[0]
    expect(said).toEqual({
      ...{ version: 1, scheme, network, asset, payTo, amount },
      resourceUrl: `https://kiosk.example/api/catalog/${kind}s/purchase/info`,
    })
    expect(validUntil).toBeGreaterThan(before + 110)
    expect(validUntil).toBeLessThanOrEqual(before + 121)
    await expect(verifyOfferSignatureJWS(offer, jwkOf(6))).rejects.toThrow()
  })

  const longest = (changes: Partial<PaymentRequest>, transport?: PaymentTransport) =>
    demanded(
      {
        kind,
        description: '買'.repeat(400),
        accepts: [
          termsOf(
            usdc('99999999999'),
            fixturePayee,
            quotes.promise(
              {
                offer: 'X'.repeat(48) as OfferId,
                value: cents(9_999_999),
                units: 'USD/1000 KWD/1000',
              },
              usdc('99999999999'),
            ),
          ),
        ],
        ...changes,
      },
      {
        url: `https://${'gift-cards-and-more'.padEnd(35, 'x')}.example.com`,
        name: 'n'.repeat(80),
      },
      'retry_later',
      transport,
    )
  const asking = voucher(offerId, { requiredFields: [...fieldOfKey.keys()] })

  test('fits a header buffer of 8 kB with room to spare, however long its texts are', async () => {
    const long = await longest({}, indexedTransport)
    const example = exampleBody(asking, retailOf(asking, fixturePricing()))
    expect((await longest({ example }, indexedTransport)).header.length).toBeLessThan(5_800)
    expect(long.header.length).toBeLessThan(4_800)
    expect(long.required.resource.description).toMatch(/^買{30,}$/)
  })

  const named = {
    description: 'A card of a brand with a long name '.padEnd(90, 'x'),
    bought: 'a 999.99 USD card of a brand with a long name (US) for somebody '.padEnd(160, 'x'),
  }
  const reason = 'The payment was rejected because '.padEnd(120, 'x')
  const { type, required } = kindSchemaFor(kind)
  test.each<[string, Partial<PaymentRequest>, PaymentTransport?]>([
    ['a purchase', named],
    ['a rejected payment', { ...named, code: 'insufficient_funds', error: reason }],
    ['who wants an address', { ...named, payableUrl: address(1_200) }],
    ['who calls an address', named, { ...httpTransport, address: address(1_200) }],
    [
      'an index',
      {
        description: named.description,
        accepts: [termsOf(usdc('1000000'), fixturePayee)],
        bodySchema: { type, required },
      },
      indexedTransport,
    ],
  ])('tells %s at most 900 tokens of about four characters', async (_, changes, transport) => {
    const { body } = await longest(changes, transport)
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(3_600)
  })

  test('names the address of a purchase where there is room', async () => {
    const { body: asked } = await demanded({ kind, payableUrl: address(700) })
    const { body: called } = await demanded({ kind }, {}, 'pay', {
      ...httpTransport,
      address: address(700),
    })
    expect([asked.payableUrl, called.resource.url]).toEqual([address(700), address(700)])
  })

  test('says the same in its body, and more', async () => {
    const { required, body } = await demanded({ kind })
    expect(body).toMatchObject({ ...required, charged: 'no' })
  })
})

test('a store that sells nothing asks nobody for money', async () => {
  await expect(demanded({}, {}, 'stop')).rejects.toMatchObject({ code: 'store_paused' })
})

const recipient = { kind: 'voucher', firstName: 'Ada', lastName: 'Lovelace' } as const
const named = { brandName: 'Netflix', country: 'AU' }

test('a value that the supplier gives as it was chosen stands with the card', () => {
  const dollars = open(500, 50_000)
  const card = voucher('A', { ...named, price: dollars, faceValue: dollars })
  const line = { recipient, value: cents(2_500) }
  expect(purchaseSentence(card, line, usdcFromCents(cents(2_500)))).toBe(
    'value 25 = a 25.00 USD Netflix card (AU) for 25.00 USDC',
  )
})

test('a value that the supplier converts is what the card is worth, about', () => {
  const faceValue = { ...open(765, 76_500), currency: 'AUD' }
  const card = voucher('A', { ...named, price: open(500, 50_000), faceValue })
  const line = { recipient, value: cents(50_000) }
  expect(purchaseSentence(card, line, usdcFromCents(cents(50_000)))).toBe(
    'value 500 = a Netflix card (AU) worth about 765.00 AUD for 500.00 USDC',
  )
})

test('a fixed card names its own currency', () => {
  const card = voucher('A', { ...named, price: fixed(1_163), faceValue: fixed(1_000, 'EUR') })
  const line = { recipient, value: undefined }
  expect(purchaseSentence(card, line, usdcFromCents(cents(1_163)))).toBe(
    'a 10.00 EUR Netflix card (AU) for 11.63 USDC',
  )
})

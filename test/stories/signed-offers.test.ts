import { x402Client } from '@x402/core/client'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  type JWSSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import { wrapFetchWithPayment } from '@x402/fetch'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { type Answer, bodyFor, get, type Kind, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

// What the store signs for x402 clients, checked by the functions of the clients' own package, with
// keys that it finds by itself.

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const ask = (kind: Kind, body: unknown = bodyFor(kind, 'OK')) =>
  post(store.url, purchasePath(kind), body)

/** The demand as clients read it. */
function requiredIn({ headers }: Answer) {
  const header = headers.get('payment-required') ?? ''
  return { header, required: JSON.parse(Buffer.from(header, 'base64').toString()) }
}

function offerIn(answer: Answer): JWSSignedOffer {
  const [offer] = extractOffersFromPaymentRequired(requiredIn(answer).required)
  if (offer === undefined || !isJWSSignedOffer(offer)) throw new Error('There is no offer')
  return offer
}

describe.each(kinds)('a %s', (kind) => {
  test.each([
    ['the empty call', undefined],
    ['a named offer', bodyFor(kind, 'OK')],
  ])('is offered by signature to %s, and described', async (_, body) => {
    const answer = await ask(kind, body)
    const { header, required } = requiredIn(answer)
    expect(answer.status).toBe(402)
    expect(header.length).toBeLessThan(4_800)
    expect(Object.keys(required.extensions).sort()).toEqual(
      ['bazaar', 'offer-receipt', 'payment-identifier'].sort(),
    )
    expect(validateDiscoveryExtension(required.extensions.bazaar)).toEqual({ valid: true })
    const { scheme, network, asset, payTo, amount } = required.accepts[0]
    expect(await verifyOfferSignatureJWS(offerIn(answer))).toEqual({
      ...{ version: 1, scheme, network, asset, payTo, amount },
      resourceUrl: `${store.url}${purchasePath(kind)}`,
      validUntil: expect.any(Number),
    })
    expect(answer.body).toMatchObject({ ...required, bodySchema: { type: 'object' } })
  })

  test('is bought by the stock client, which echoes everything, and receipted', async () => {
    const sent: string[] = []
    const watching: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      sent.push(request.headers.get('payment-signature') ?? '')
      return fetch(request)
    }
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer.account))
    const response = await wrapFetchWithPayment(watching, client)(
      `${store.url}${purchasePath(kind)}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '10.1.1.1' },
        body: JSON.stringify(bodyFor(kind, 'OK')),
      },
    )
    expect(response.status).toBe(200)
    const payment = sent.find((header) => header !== '') ?? ''
    const echoed = JSON.parse(Buffer.from(payment, 'base64').toString())
    expect(Object.keys(echoed.extensions)).toHaveLength(3)
    expect(payment.length).toBeLessThan(6_000)
    const { transactionHash } = (await response.json()) as { transactionHash: string }
    const receipt = extractReceiptFromResponse(response)
    if (receipt === undefined || !isJWSSignedReceipt(receipt)) throw new Error('No receipt')
    expect(await verifyReceiptSignatureJWS(receipt)).toEqual({
      version: 1,
      network: 'eip155:84532',
      resourceUrl: `${store.url}${purchasePath(kind)}`,
      payer: buyer.address,
      issuedAt: expect.any(Number),
      transaction: transactionHash,
    })
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(echoed))
    expect(offer && verifyReceiptMatchesOffer(receipt, offer, [buyer.address])).toBe(true)
  })
})

test('an offer of which a byte was changed is nobody’s, and so is one checked with another key', async () => {
  const offer = offerIn(await ask('voucher'))
  const [header, payload = '', signature] = offer.signature.split('.')
  const cheaper = Buffer.from(payload, 'base64url').toString().replace('"500000"', '"400000"')
  const forged = [header, Buffer.from(cheaper).toString('base64url'), signature].join('.')
  await expect(verifyOfferSignatureJWS({ ...offer, signature: forged })).rejects.toThrow()
  const { keys } = (await get(store.url, '/.well-known/jwks.json')).body
  expect(await verifyOfferSignatureJWS(offer, keys[0])).toMatchObject({ amount: '500000' })
  const other = {
    ...keys[0],
    x: `${keys[0].x.slice(0, -2)}${keys[0].x.at(-2) === 'A' ? 'B' : 'A'}A`,
  }
  await expect(verifyOfferSignatureJWS(offer, other)).rejects.toThrow()
})

describe('what a client echoes makes no difference:', () => {
  test.each<[string, (extensions: Record<string, unknown>) => unknown]>([
    ['nothing', () => undefined],
    ['one that it made up', (all) => ({ ...all, 'made-up': { info: { a: 1 }, schema: {} } })],
  ])('%s', async (_, echo) => {
    const { required } = requiredIn(await ask('voucher'))
    const { header } = await buyer.sign(required.accepts[0])
    const payment = JSON.parse(Buffer.from(header, 'base64').toString())
    const sent = { ...payment, extensions: echo(required.extensions) }
    const answer = await post(store.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
      'payment-signature': Buffer.from(JSON.stringify(sent)).toString('base64'),
    })
    expect(answer).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
    const settled = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')
    expect(settled.extensions).toHaveProperty('offer-receipt')
  })
})

test('a payment that echoes everything may have the longest signature there is', async () => {
  const { required } = requiredIn(await ask('voucher'))
  const payment = JSON.parse(
    Buffer.from((await buyer.sign(required.accepts[0])).header, 'base64').toString(),
  )
  const signature = `0x${'6492'.repeat(1_499)}`
  const sent = {
    ...payment,
    payload: { ...payment.payload, signature },
    resource: required.resource,
    extensions: required.extensions,
  }
  const header = Buffer.from(JSON.stringify(sent)).toString('base64')
  expect(header.length).toBeGreaterThan(11_500)
  const answer = await post(store.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
    'payment-signature': header,
  })
  // It was read: what is wrong with it is the signature itself.
  expect(answer).toMatchObject({
    status: 402,
    body: { code: expect.not.stringMatching('invalid') },
  })
})

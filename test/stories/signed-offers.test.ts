import { x402Client } from '@x402/core/client'
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
import { type Answer, bodyFor, type Kind, post, purchasePath } from './requests.ts'
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
    ['the empty call of an index, and described', {}, ['bazaar']],
    ['a named offer', bodyFor(kind, 'OK'), []],
  ])('is offered by signature to %s', async (_, body, described) => {
    const answer = await ask(kind, body)
    const { header, required } = requiredIn(answer)
    expect(answer.status).toBe(402)
    expect(header.length).toBeLessThan(4_800)
    expect(Object.keys(required.extensions).sort()).toEqual(
      [...described, 'offer-receipt', 'payment-identifier'].sort(),
    )
    for (const name of described) {
      expect(validateDiscoveryExtension(required.extensions[name])).toEqual({ valid: true })
    }
    const { scheme, network, asset, payTo, amount } = required.accepts[0]
    expect(await verifyOfferSignatureJWS(offerIn(answer))).toEqual({
      ...{ version: 1, scheme, network, asset, payTo, amount },
      resourceUrl: `${store.url}${purchasePath(kind)}`,
      validUntil: expect.any(Number),
    })
    expect(answer.body).toMatchObject(required)
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
    expect(Object.keys(echoed.extensions)).toHaveLength(2)
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

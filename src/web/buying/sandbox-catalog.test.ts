import { expect, test } from 'vitest'
import { makeCatalog } from '../../../sandbox/supplier/catalog/catalog.ts'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing } from '../../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { readLineItem } from '../../catalog/purchase-body.ts'
import { networks } from '../../payments/networks.ts'
import { parseOffer } from '../../suppliers/zendit/parse-offer.ts'
import { document } from '../frame/layout.ts'
import { dataOf, structureFaults } from '../frame/structure.fixture.ts'
import { textsIn } from '../texts/texts.ts'
import { exampleCall } from './agent-section.ts'
import { buyPage } from './buy-page.ts'

const t = textsIn('en')

const { lists } = makeCatalog(12_000)
const parsed = [
  ...lists.vouchers.map((record) => parseOffer(record, 'voucher')),
  ...lists.topups.map((record) => parseOffer(record, 'topup')),
  ...lists.esim.map((record) => parseOffer(record, 'esim')),
]
const offers = parsed.filter((offer): offer is Offer => typeof offer !== 'string')

const pricing = fixturePricing({ markupBps: 250 })
const site = {
  name: 'Test Kiosk',
  description: 'Goods for tests.',
  url: 'https://kiosk.example',
  logo: 'https://kiosk.example/logo.svg',
  contact: 'ops@kiosk.example',
  acceptsCrypto: [],
}
const deps = {
  liveCatalog: createLiveCatalog(catalogOf(offers, pricing)),
  pricing,
  site,
  networkName: 'Base',
  fulfillmentDeadlineSeconds: 600,
  isSandbox: true,
  payee: { network: networks.base, payTo: '0x1111111111111111111111111111111111111111' },
  t,
}
/** For pages without links to sibling offers, which only some of the pages need to have. */
const alone = { ...deps, liveCatalog: createLiveCatalog() }
const frame = {
  site,
  styleUrl: '/style.css?v=1',
  scriptUrl: (name: string) => `/scripts/${name}`,
  isSandbox: true,
  t,
}
const catalog = offers
const sold = catalog.filter((offer) => retailOf(offer, pricing).type !== 'NOT_SOLD')

test('each third offer of the sandbox, and every unusual one, has a page that is whole and names its price', () => {
  expect(catalog.length).toBeGreaterThan(11_000)
  const shown = catalog.filter(({ id }, at) => at % 3 === 0 || id.startsWith('DIRTY-'))
  for (const [at, offer] of shown.entries()) {
    const page = document(frame, buyPage(offer, at % 7 === 0 ? deps : alone))
    expect(structureFaults(page), offer.id).toEqual([])
    expect(page.length, offer.id).toBeLessThan(40_000)
    expect(dataOf(page), offer.id).toMatchObject({ '@type': 'Product', sku: offer.id })
    expect(page.includes(' USDC'), offer.id).toBe(true)
  }
})

test('unusual offers that are fit to sell are among them', () => {
  const kept = sold.filter(({ id }) => id.startsWith('DIRTY-') && id.includes('KEEP'))
  expect(kept.length).toBeGreaterThanOrEqual(5)
  expect(sold.length).toBeLessThan(catalog.length)
})

test('the example calls of every sold offer pass the checks of the store', () => {
  for (const offer of sold) {
    const { body } = exampleCall(offer, retailOf(offer, pricing), site.url)
    expect(() => readLineItem(offer, body), `${offer.id} ${JSON.stringify(body)}`).not.toThrow()
  }
})

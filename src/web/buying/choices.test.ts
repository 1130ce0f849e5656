import { describe, expect, test } from 'vitest'
import { makeCatalog } from '../../../sandbox/supplier/catalog/catalog.ts'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing } from '../../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import type { EsimOffer } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { parseOffer } from '../../suppliers/zendit/parse-offer.ts'
import { type Html, textOf } from '../frame/html.ts'
import { read } from '../frame/website.fixture.ts'
import { offerCards } from '../shop/search-page.ts'
import { textsIn } from '../texts/texts.ts'
import { choicesSection } from './choices.ts'

const t = textsIn('en')

const pricing = fixturePricing()
const areas = { JPKR: 'JP KR', CHINA: 'CN HK TW', JP: 'JP', ASIA: 'JP KR CN TH ID', TH: 'TH' }
const plans: readonly EsimOffer[] = Object.entries(areas).flatMap(([area, countries]) =>
  [1, 5, 10].map((dataGb) =>
    esim(`E-${area}-${dataGb}`, {
      coverage: countries.split(' ').map((country) => ({ country, speeds: ['4G'] })),
      regions: ['Asia'],
      allowance: { dataGb, durationDays: 30 },
      price: fixed(dataGb * 100),
    }),
  ),
)

function choicesOf(offer: Offer, offers: readonly Offer[]) {
  const liveCatalog = createLiveCatalog(catalogOf(offers, pricing))
  const section = choicesSection(offer, { liveCatalog, pricing, t })
  const page = section === undefined ? '' : textOf(section)
  const [same = '', others = ''] = page.split('class="over"')
  const ids = (part: string) =>
    [...part.matchAll(/href="\/buy\/([^"]+)"/g)].map(([, id = '']) => id)
  return { page, same: ids(same), others: ids(others) }
}

describe('the choices beside a plan', () => {
  test('are for the same countries, and those for others name theirs', () => {
    const [offer] = plans as [EsimOffer]
    const { page, same, others } = choicesOf(offer, plans)
    expect(same).toEqual(['E-JPKR-1', 'E-JPKR-5', 'E-JPKR-10'])
    // The most similar plan of each other coverage, and none that does not work in Japan.
    expect(others).toEqual(['E-JP-1', 'E-ASIA-1'])
    expect(read(page)).toContain('Other coverage Japan 1 GB, 30 days, 1.00 USDC')
    expect(read(page)).toContain('China + Indonesia + Japan +2')
    expect(page).toContain('aria-label="Nomadnet plans for Japan + South Korea"')
  })

  test('tell plans of the same words apart', () => {
    const [offer] = plans as [EsimOffer]
    const twin = { ...offer, id: 'E-JPKR-1-NOROAM' as EsimOffer['id'] }
    const slow = { ...twin, id: 'E-SLOW' as EsimOffer['id'], notes: 'After 1 GB: 512 kbps.' }
    const text = read(choicesOf(offer, [...plans, twin, slow]).page)
    expect(text).toContain('Offer E-JPKR-1-NOROAM')
    expect(text).toContain('Offer E-JPKR-1 ')
    // What distinguishes it is on its page, not on the link.
    expect(text).toContain('Offer E-SLOW')
  })

  test('are found by reading few plans, however many a brand has', () => {
    const countries = ['JP', 'KR', 'CN', 'TH', 'ID', 'VN', 'MY', 'SG', 'PH', 'TW', 'HK']
    const many = countries.flatMap((_, reach) =>
      Array.from({ length: 60 }, (_, at) =>
        esim(`E-${reach}-${at}`, {
          coverage: countries.slice(0, reach + 1).map((country) => ({ country, speeds: ['4G'] })),
          regions: ['Asia'],
          allowance: { dataGb: at + 1, durationDays: 30 },
          price: fixed((at + 1) * 100),
        }),
      ),
    )
    const liveCatalog = createLiveCatalog(catalogOf(many, pricing))
    const catalog = liveCatalog.current()
    const { esim: index } = catalog.sold
    const reads: number[] = []
    const reading = {
      offerAt: (doc: number) => index.offersAt(counted(Uint32Array.of(doc)))[0] as Offer,
      offersAt: (docs: Uint32Array) => index.offersAt(counted(docs)),
    }
    const counted = (docs: Uint32Array) => {
      reads.push(docs.length)
      return docs
    }
    const counting = {
      ...liveCatalog,
      current: () => ({ ...catalog, sold: { ...catalog.sold, esim: { ...index, ...reading } } }),
    }
    const offer = catalog.find('E-3-7') as EsimOffer
    const section = choicesSection(offer, { liveCatalog: counting, pricing, t })
    const [, others = ''] = textOf(section as Html).split('class="over"')
    expect(reads.reduce((sum, count) => sum + count)).toBeLessThan(60)
    expect(read(others).match(/ 8 GB, 30 days/g)).toHaveLength(8)
  })
})

describe('in the catalog of the sandbox', () => {
  const { lists } = makeCatalog(4_000)
  const all = lists.esim
    .map((record) => parseOffer(record, 'esim'))
    .filter((offer): offer is EsimOffer => typeof offer !== 'string')
    .filter(({ id }, at, every) => every.findIndex((other) => other.id === id) === at)
  const key = ({ coverage }: EsimOffer) =>
    coverage
      .map(({ country }) => country)
      .sort()
      .join()

  test('no choice leads to other countries', () => {
    const liveCatalog = createLiveCatalog(catalogOf(all, pricing))
    const find = (id: string) => liveCatalog.current().find(id) as EsimOffer
    const looked = all.filter((_, at) => at % 15 === 0)
    expect(looked.length).toBeGreaterThan(50)
    for (const offer of looked) {
      const section = choicesSection(offer, { liveCatalog, pricing, t })
      const [same = '', others = ''] = (section ? textOf(section) : '').split('class="over"')
      const keys = (part: string) =>
        [...part.matchAll(/\/buy\/([^"]+)"/g)].map(([, id = '']) => key(find(id)))
      expect(new Set([key(offer), ...keys(same)])).toEqual(new Set([key(offer)]))
      expect(keys(others)).not.toContain(key(offer))
    }
  })

  test('no two choices beside an offer read the same', () => {
    const liveCatalog = createLiveCatalog(catalogOf(all, pricing))
    const twice: string[] = []
    for (const offer of all.filter((_, at) => at % 7 === 0)) {
      const section = choicesSection(offer, { liveCatalog, pricing, t })
      const links = section ? textOf(section).split('<li>').slice(1).map(read) : []
      twice.push(...links.filter((link, at) => links.indexOf(link) !== at))
    }
    expect(twice).toEqual([])
  })

  test('no two cards of different goods read the same', () => {
    const cards = offerCards(all, { pricing, t }).map((card) => read(textOf(card)))
    expect(cards.filter((card, at) => cards.indexOf(card) !== at)).toEqual([])
  })
})

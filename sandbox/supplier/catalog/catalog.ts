import type { Family, Offer } from '../models.ts'
import { areas } from './esim-areas.ts'
import { esims } from './esims.ts'
import { flawedOffers } from './flawed.ts'
import { testOffers } from './test-offers.ts'
import { topups } from './topups.ts'
import { voucherBrands } from './voucher-brands.ts'
import { vouchers } from './vouchers.ts'

export const families = ['vouchers', 'topups', 'esim'] as const satisfies readonly Family[]

export interface Brand {
  readonly brand: string
  readonly brandName: string
  readonly family: Family
}

export interface Catalog {
  readonly lists: Readonly<Record<Family, readonly Offer[]>>
  readonly brands: ReadonlyMap<string, Brand>
  find(family: Family, offerId: string): Offer | undefined
  /** Changes the fixed price of an offer, in minor units; the cost changes in proportion. */
  reprice(offerId: string, price: number): Offer | undefined
}

const makers = { vouchers, topups, esim: esims }

/** A catalog with at most this many offers is a small one: test offers and well-known clean ones, made in a few ms. */
const mostOfSmall = 100

/** Where the well-known brands of a small catalog are sold. */
const smallBrands: Readonly<Record<string, readonly string[]>> = {
  AMAZON: ['US', 'DE'],
  NETFLIX: ['US', 'DE'],
  STEAM: ['US', 'GB'],
  APPLE: ['US', 'JP'],
  SPOTIFY: ['BR', 'IN'],
  STARBUCKS: ['US', 'GB'],
  UBER: ['US', 'FR'],
}
const smallCountries = ['CU', 'DE', 'GT', 'IN', 'MX', 'NG', 'US']
const smallAreas = ['US', 'JP', 'EUROPE', 'GLOBAL', 'JPKR']

const smallMakers = {
  vouchers: () =>
    vouchers(
      voucherBrands.flatMap((brand) => {
        const countries = smallBrands[brand.brand]
        return countries ? [{ ...brand, countries }] : []
      }),
    ),
  topups: () => topups(smallCountries),
  esim: () => esims(areas.filter(({ id }) => smallAreas.includes(id))),
}
const shares = { topups: 0.35, esim: 0.2 }

/** The number of clean offers before the flawed ones, so that those are not all at one end of a list. */
const flawedPosition = 40

function take(source: Generator<Offer>, count: number): Offer[] {
  const taken: Offer[] = []
  for (const offer of source) {
    if (taken.length >= count) break
    taken.push(offer)
  }
  return taken
}

function smallListOf(family: Family, count: number): Offer[] {
  const tests = testOffers[family]
  return [...tests, ...take(smallMakers[family](), Math.max(1, count - tests.length))]
}

function listOf(family: Family, count: number): Offer[] {
  const [clean] = take(makers[family](), 1)
  if (!clean) throw new Error(`The catalog of ${family} is empty.`)
  const flawed = flawedOffers(family, clean)
  const others = Math.max(1, count - testOffers[family].length - flawed.length)
  const made = take(makers[family](), others)
  return [
    ...testOffers[family],
    ...made.slice(0, flawedPosition),
    ...flawed,
    ...made.slice(flawedPosition),
  ]
}

function brandsOf(lists: Catalog['lists']): ReadonlyMap<string, Brand> {
  const brands = families.flatMap((family) =>
    lists[family].map(({ brand, brandName }) => [brand, { brand, brandName, family }] as const),
  )
  // The first family of a brand counts.
  return new Map(brands.reverse())
}

function repriced(offer: Offer, fixed: number): Offer {
  const { price, cost } = offer
  const costs = Math.max(1, Math.round(((cost.fixed ?? 0) * fixed) / (price.fixed ?? fixed)))
  const updatedAt = new Date().toISOString()
  return { ...offer, updatedAt, price: { ...price, fixed }, cost: { ...cost, fixed: costs } }
}

/**
 * The whole catalog of `offers` offers (never fewer than the test and flawed ones): about 45 % vouchers, 35 % topups,
 * 20 % eSIMs. It is the same at every start, and each list of a larger catalog begins with the offers of a smaller
 * one. Up to 100 offers are the test offers and well-known clean ones of all kinds.
 */
export function makeCatalog(offers: number): Catalog {
  const topupCount = Math.round(offers * shares.topups)
  const esimCount = Math.round(offers * shares.esim)
  const make = offers <= mostOfSmall ? smallListOf : listOf
  const lists: Record<Family, Offer[]> = {
    vouchers: make('vouchers', offers - topupCount - esimCount),
    topups: make('topups', topupCount),
    esim: make('esim', esimCount),
  }
  const placesOf = (family: Family) =>
    lists[family].map(({ offerId }, at) => [offerId, at] as const)
  const places: Readonly<Record<Family, ReadonlyMap<string, number>>> = {
    // Of two offers with one id, the first counts.
    vouchers: new Map(placesOf('vouchers').reverse()),
    topups: new Map(placesOf('topups').reverse()),
    esim: new Map(placesOf('esim').reverse()),
  }
  const find = (family: Family, offerId: string) => lists[family][places[family].get(offerId) ?? -1]
  return {
    lists,
    brands: brandsOf(lists),
    find,
    reprice(offerId, price) {
      for (const family of families) {
        const offer = find(family, offerId)
        if (!offer) continue
        const next = repriced(offer, price)
        lists[family][places[family].get(offerId) ?? -1] = next
        return next
      }
      return undefined
    },
  }
}

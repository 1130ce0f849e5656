import { closest } from 'fastest-levenshtein'
import { createFrankfurter } from '../adapters/rates/frankfurter.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import { countryCodes } from '../catalog/countries.ts'
import { kinds, type Offer } from '../catalog/offer.ts'
import { type RateTable, readAtOf } from '../catalog/ports.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { brandInCountry, type Scope } from '../catalog/selling-rules.ts'
import { coins } from '../payments/coins.ts'
import { type Operator, Refused } from './operator.ts'

/** What the store sells, as it last read it, and what its prices go by. */
export interface Shelf {
  readonly offers: readonly Offer[]
  readonly pricing: Omit<Pricing, 'rules'>
  /** What a scope may be about, by type; each by itself and by its spellings in lower case. */
  readonly known: Readonly<Record<string, ReadonlyMap<string, string>>>
}

const ratesTimeoutMs = 10_000

/** @throws Refused before the store has read a catalog */
export async function readShelf({ config, database, now }: Operator): Promise<Shelf> {
  const [snapshot, rates] = await Promise.all([
    createSnapshotStore(database).load(),
    ratesOf(config.ratesUrl),
  ])
  if (snapshot === undefined)
    throw new Refused('The store has not read its catalog yet. Start it, and wait for its first.')
  const { offers } = snapshot
  const readAt = (list: string) => readAtOf(snapshot, list)
  const names = offers.map(({ brandName, brand }) => [brandName.toLowerCase(), brand] as const)
  return {
    offers,
    pricing: { markupBps: config.markupBps, rates: () => rates, readAt, now },
    known: {
      kind: spelled(kinds),
      country: spelled(countryCodes()),
      supplier: spelled(offers.map(({ source }) => source.supplier)),
      method: spelled(['x402', ...coins]),
      offer: spelled(offers.map(({ id }) => id)),
      brand: new Map([...names, ...spelled(offers.map(({ brand }) => brand))]),
    },
  }
}

/** Without rates, offers in other currencies than the dollar are left out of a comparison. */
function ratesOf(url: string): Promise<RateTable | undefined> {
  const source = createFrankfurter({ url, timeoutMs: ratesTimeoutMs })
  return source.latest(AbortSignal.timeout(ratesTimeoutMs)).catch(() => undefined)
}

function spelled(keys: readonly string[]): ReadonlyMap<string, string> {
  const inLowerCase = keys.map((key) => [key.toLowerCase(), key] as const)
  return new Map([...inLowerCase, ...keys.map((key) => [key, key] as const)])
}

/** `everything`, `kind:voucher`, `brand:APPLE`, `brand:APPLE/DE`, `country:DE`, `offer:ID`, `supplier:NAME`, `method:BTC`. */
export function scopeText({ type, key }: Scope): string {
  if (type === 'everything') return type
  return `${type === 'brand_country' ? 'brand' : type}:${key}`
}

/** The scope of a text as `scopeText` writes it, in any case; or why there is none, with the nearest. */
export function scopeNamed(text: string, { known }: Shelf): Scope | string {
  if (text === 'everything') return { type: 'everything', key: '' }
  const [, type = '', word = ''] = /^(\w+):(.+)$/s.exec(text) ?? []
  const find = (of: string, name: string) =>
    known[of]?.get(name) ?? known[of]?.get(name.toLowerCase())
  const spellings = known[type]
  if (spellings === undefined)
    return `"${text}" is no scope: everything, kind:, brand:KEY, brand:KEY/CC, country:CC, offer:ID, supplier: or method:.`
  const key = find(type, word)
  if (key !== undefined) return { type: type as Scope['type'], key }
  const [, name = '', code = ''] = /^(.+)\/(..)$/s.exec(word) ?? []
  const [brand, country] = [find('brand', name), find('country', code)]
  if (type === 'brand' && brand && country)
    return { type: 'brand_country', key: brandInCountry(brand, country) }
  return `There is no ${type} ${word}. The nearest is ${spellings.get(closest(word, [...spellings.keys()]))}.`
}

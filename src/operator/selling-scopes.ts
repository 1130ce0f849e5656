import { closest } from 'fastest-levenshtein'
import { createFrankfurter } from '../adapters/rates/frankfurter.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import { isCountry } from '../catalog/countries.ts'
import { kinds, type Offer } from '../catalog/offer.ts'
import { type RateTable, readAtOf, type Snapshot } from '../catalog/ports.ts'
import { brandInCountry, type Scope } from '../catalog/selling-rules.ts'
import { coins } from '../payments/coins.ts'
import { type Operator, Refused } from './operator.ts'

/** What the store sells, as it last read it, and what its prices go by. */
export interface Shelf {
  readonly snapshot: Snapshot
  readonly rates: RateTable | undefined
  readonly markupBps: number
  readonly now: Date
  readonly brands: ReadonlySet<string>
  /** Keys of brands by their names in lower case. */
  readonly named: ReadonlyMap<string, string>
  readonly offers: ReadonlyMap<string, Offer>
  readonly suppliers: ReadonlySet<string>
}

const ratesTimeoutMs = 10_000

/** @throws Refused before the store has read a catalog */
export async function readShelf({ config, database, now }: Operator): Promise<Shelf> {
  const [snapshot, rates] = await Promise.all([
    createSnapshotStore(database).load(),
    config.mode === 'live' ? ratesOf(config.ratesUrl) : undefined,
  ])
  if (snapshot === undefined)
    throw new Refused('The store has not read its catalog yet. Start it, and wait for its first.')
  const { offers } = snapshot
  return {
    snapshot,
    rates,
    markupBps: config.markupBps,
    now: now(),
    brands: new Set(offers.map(({ brand }) => brand)),
    named: new Map(offers.map(({ brand, brandName }) => [brandName.toLowerCase(), brand])),
    offers: new Map(offers.map((offer) => [offer.id, offer])),
    suppliers: new Set(offers.map(({ source }) => source.supplier)),
  }
}

/** Without rates, offers in other currencies than the dollar are left out of a comparison. */
function ratesOf(url: string): Promise<RateTable | undefined> {
  const source = createFrankfurter({ url, timeoutMs: ratesTimeoutMs })
  return source.latest(AbortSignal.timeout(ratesTimeoutMs)).catch(() => undefined)
}

export function readAtOn({ snapshot }: Shelf) {
  return (list: string) => readAtOf(snapshot, list)
}

/** `everything`, `kind:voucher`, `brand:APPLE`, `brand:APPLE/DE`, `country:DE`, `offer:ID`, `supplier:NAME`, `method:BTC`. */
export function scopeText({ type, key }: Scope): string {
  if (type === 'everything') return type
  return `${type === 'brand_country' ? 'brand' : type}:${key}`
}

/** The scope of a text as `scopeText` writes it, in any case; or why there is none, with the nearest. */
export function scopeNamed(text: string, shelf: Shelf): Scope | string {
  if (text === 'everything') return { type: 'everything', key: '' }
  const at = text.indexOf(':')
  const [type, key] = [text.slice(0, at), text.slice(at + 1).trim()]
  switch (type) {
    case 'kind':
      return among(type, key.toLowerCase(), kinds)
    case 'country':
      return isCountry(key.toUpperCase())
        ? { type, key: key.toUpperCase() }
        : `${key} is no ISO 3166-1 alpha-2 code of a country.`
    case 'supplier':
      return among(type, key.toLowerCase(), [...shelf.suppliers])
    case 'method':
      return among(type, key === 'x402' ? key : key.toUpperCase(), ['x402', ...coins])
    case 'offer':
      return among(type, key, [...shelf.offers.keys()])
    case 'brand':
      return brandScope(key, shelf)
    default:
      return `"${text}" is no scope: everything, kind:, brand:KEY, brand:KEY/CC, country:CC, offer:ID, supplier: or method:.`
  }
}

function among(type: Scope['type'], key: string, known: readonly string[]): Scope | string {
  if (known.includes(key)) return { type, key }
  return `There is no ${type} ${key}. The nearest is ${closest(key, [...known])}.`
}

function brandScope(text: string, shelf: Shelf): Scope | string {
  const whole = brandKey(text, shelf)
  if (whole !== undefined) return { type: 'brand', key: whole }
  const [, name = '', code = ''] = /^(.+)\/([a-z]{2})$/i.exec(text) ?? []
  const [brand, country] = [brandKey(name, shelf), code.toUpperCase()]
  if (brand !== undefined && isCountry(country))
    return { type: 'brand_country', key: brandInCountry(brand, country) }
  return among('brand', text, [...shelf.brands, ...shelf.named.keys()])
}

function brandKey(text: string, { brands, named }: Shelf): string | undefined {
  const inCapitals = text.toUpperCase()
  if (brands.has(text)) return text
  return brands.has(inCapitals) ? inCapitals : named.get(text.toLowerCase())
}

import { closest } from 'fastest-levenshtein'
import { createFrankfurter } from '../adapters/rates/frankfurter.ts'
import type { NewRule, PlacedRule } from '../adapters/storage/selling-rules.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import { countryCodes } from '../catalog/countries.ts'
import { kinds, type Offer } from '../catalog/offer.ts'
import { type RateTable, readAtOf } from '../catalog/ports.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { brandInCountry, type Effect, effectTypes, type Scope } from '../catalog/selling-rules.ts'
import { csvLine } from '../lib/csv.ts'
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

const columns = ['scope', 'effect', 'margin_bps', 'fixed_usd', 'text', 'until', 'reason'] as const

/** A rule as a person writes it, on a command line or in a line of a file. */
export type WantedRule = Readonly<Partial<Record<(typeof columns)[number] | 'line', string>>>

/** The rule that was written, or what is wrong with it. */
export function ruleIn(wanted: WantedRule, shelf: Shelf): NewRule | string {
  const { until: end = '', reason = '' } = wanted
  const [scope, effect] = [scopeNamed(wanted.scope ?? '', shelf), effectIn(wanted)]
  if (typeof scope === 'string') return scope
  if (typeof effect === 'string') return effect
  const until = end === '' ? null : new Date(end)
  // A time without a zone would be of this machine, and a day alone ends at an hour that nobody wrote.
  if (until && !(/T.*(Z|[+-]\d\d:?\d\d)$/.test(end) && until > shelf.pricing.now()))
    return `It cannot end at "${end}": write a time to come with its zone, such as 2027-12-24T18:00Z.`
  return misfit(scope, effect) ?? { scope, effect, until, reason }
}

function misfit(scope: Scope, { type }: Effect): string | undefined {
  if (scope.type === 'method' && type !== 'pause') return 'A way to pay can only be paused.'
  const isFeatured = type === 'feature'
  return isFeatured && scope.type !== 'offer' && scope.type !== 'brand'
    ? 'Only an offer or a brand can be featured.'
    : undefined
}

function effectIn(wanted: WantedRule): Effect | string {
  const { text = '' } = wanted
  const type = effectTypes.find((one) => one === wanted.effect)
  switch (type) {
    case undefined:
      return `"${wanted.effect}" is no effect: ${effectTypes.join(', ')}.`
    case 'margin':
    case 'least_margin':
      return marginIn(type, wanted)
    case 'name':
    case 'description':
    case 'picture':
      return textFault(type, text) ?? { type, text }
    default:
      return { type }
  }
}

function marginIn(
  type: 'margin' | 'least_margin',
  { margin_bps: bpsText = '', fixed_usd: usd = '' }: WantedRule,
): Effect | string {
  if (!/^-?\d{1,5}$/.test(bpsText) || !/^(-?\d{1,4}(\.\d{1,2})?)?$/.test(usd))
    return 'A margin is a whole number of basis points below 100000 (200 is 2 %), and then dollars and cents below 10000, such as 0.30.'
  const [bps, cents] = [Number(bpsText), Math.round(Number(usd) * 100)]
  if (bps <= -10_000)
    return `A margin of ${bps / 100} % gives the goods away. Nothing is sold below its cost in any case.`
  if (type === 'least_margin' && (bps < 0 || cents < 0))
    return 'A least margin is on top of the cost, so it cannot be negative.'
  return { type, bps, cents }
}

const maxTexts = { name: 100, description: 5_000, picture: 500 }

function textFault(type: keyof typeof maxTexts, text: string): string | undefined {
  if (text.trim() === '' || text.length > maxTexts[type])
    return `A ${type} has 1 to ${maxTexts[type]} characters.`
  if (type === 'name' && /\p{C}/u.test(text))
    return 'A name is one line without control characters.'
  if (type === 'picture' && !(URL.canParse(text) && text.startsWith('https://')))
    return 'A picture is an address that begins with https://.'
  return undefined
}

/** One rule a line: `\n` stands for a line break. */
export function ruleFileOf(rules: readonly PlacedRule[]): string {
  const lines = rules.map(({ scope, effect, until, reason }) => [
    ...[scopeText(scope), effect.type],
    ...('bps' in effect ? [effect.bps, (effect.cents / 100).toFixed(2)] : ['', '']),
    ...['text' in effect ? oneLine(effect.text) : '', until, oneLine(reason)],
  ])
  return [columns, ...lines].map(csvLine).join('')
}

const oneLine = (text: string) => text.replace(/\r\n|\n|\r/g, '\\n')

/**
 * Of RFC 4180, as `csvLine` writes it, but no cell has several lines.
 *
 * @throws Refused for lines that are no rows of its columns
 */
export function readRuleFile(file: string): readonly WantedRule[] {
  const lines = file.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const [names, ...rows] = lines.map(cellsOf)
  if (names?.join() !== columns.join())
    throw new Refused(`Line 1: it must name the columns: ${columns.join(',')}`)
  const read = rows
    .map((cells, at) => ({ cells, line: String(at + 2) }))
    .filter(({ cells }) => cells.join('') !== '')
  const faults = read
    .filter(({ cells }) => cells.length !== columns.length)
    .map(({ cells, line }) => `Line ${line}: it has ${cells.length} cells, not ${columns.length}.`)
  if (faults.length > 0) throw new Refused(faults.join('\n'))
  return read.map(({ cells, line }) => {
    return { line, ...Object.fromEntries(columns.map((name, at) => [name, cells[at]])) }
  })
}

function cellsOf(line: string): readonly string[] {
  const cells = `${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)
  return Array.from(cells, ([, raw = '']) => {
    const text = raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw
    return text
      .replace(/^'(?=[=+\-@\t\r])/, '')
      .replaceAll('\\n', '\n')
      .trim()
  })
}

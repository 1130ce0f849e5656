import { fold, foldedWords } from '../../lib/text.ts'
import { countryCodes, countryName } from '../countries.ts'
import { goods } from '../kinds.ts'
import { voucherSubTypes } from '../lists.ts'
import { type Kind, kinds } from '../offer.ts'
import { likenesses } from '../search/words.ts'
import placeWords from './place-words.json' with { type: 'json' }
import regions from './regions.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

export interface Use {
  readonly subTypes: readonly string[]
  readonly texts: readonly string[]
}

export interface Bounded {
  readonly least?: number
  readonly most?: number
  readonly exact?: number
}

export type Meaning =
  | { readonly type: 'country'; readonly code: string }
  | { readonly type: 'region'; readonly countries: readonly string[] }
  | { readonly type: 'use'; readonly use: Use }
  | { readonly type: 'kind'; readonly kind: Kind }
  | { readonly type: 'device' }
  | ({ readonly type: 'data' | 'days' } & Bounded)
  /** The bound of an amount, before it or behind it. "Not over" is a maximum, as "at most" is. */
  | {
      readonly type: 'bound'
      readonly bound: 'most' | 'least'
      readonly isNegatable?: true
      readonly isBehind?: true
    }
  | { readonly type: 'not' }
  | { readonly type: 'join' }
  | { readonly type: 'filler' }
  /** Understood, but nothing that any offer tells: whether a card is for a subscription or for a child. */
  | { readonly type: 'context' }

/** What is counted: gigabytes, days, or what games sell, which is no value of a card. */
type Unit = { readonly type: 'data' | 'days'; readonly size: number } | { readonly type: 'other' }

/** The languages whose names of countries and months are known. English and place-words.json have further names. */
const languages =
  'en de fr es it pt nl sv da nb fi pl cs sk hu ro bg hr sr sl el tr ru uk ka hy kk ar fa he hi bn ta th vi id ms ja ko zh zh-Hant et lv lt ca'.split(
    ' ',
  )

/** No phrase has more words, or letters of writing without spaces. */
export const longestPhrase = 14

function makeVocabulary() {
  const meanings = allMeanings()
  const places = [...meanings].flatMap(([name, meaning]) =>
    meaning.type === 'country' && /^[a-z ]{5,}$/.test(name)
      ? [[name.replaceAll(' ', ''), meaning.code] as const]
      : [],
  )
  return {
    meanings,
    places: likenesses(places),
    units: allUnits(),
    currencies: allCurrencies(),
    numbers: new Map(Object.entries(words.numbers)),
    months: allMonths(),
    until: new Set(phrasesIn(words.until)),
    /** Common words that look like names of brands, and are not taken for a part or a misspelling of one. */
    everyday: new Set(phrasesIn(words.everyday)),
  }
}

function phrasesIn(list: string): string[] {
  return list.split(',').map(keyOf)
}

function keyOf(phrase: string): string {
  return foldedWords(phrase).join(' ') || phrase.trim()
}

/** The first meaning of a phrase counts. */
function allMeanings(): Map<string, Meaning> {
  const lists: readonly (readonly [list: string, meaning: Meaning])[] = [
    [words.max, { type: 'bound', bound: 'most' }],
    [words.min, { type: 'bound', bound: 'least' }],
    [words.over, { type: 'bound', bound: 'least', isNegatable: true }],
    [words.under, { type: 'bound', bound: 'most', isNegatable: true }],
    [words.behindMax, { type: 'bound', bound: 'most', isBehind: true }],
    [words.behindMin, { type: 'bound', bound: 'least', isBehind: true }],
    [words.not, { type: 'not' }],
    [words.joins, { type: 'join' }],
    ...Object.entries(placeWords).map(([code, list]) => [list, { type: 'country', code }] as const),
    ...regions.map(({ words: list, countries }) => {
      return [list, { type: 'region', countries: countries.split(' ') }] as const
    }),
    ...words.categories.map((use) => [use.words, { type: 'use', use }] as const),
    ...voucherSubTypes.map((name) => {
      return [name, { type: 'use', use: { subTypes: [name], texts: [] } }] as const
    }),
    ...kinds.map((kind) => [goods[kind].words.asked, { type: 'kind', kind }] as const),
    [words.context, { type: 'context' }],
    ...Object.entries(words.spans).map(([days, list]) => {
      return [list, { type: 'days', least: Number(days) }] as const
    }),
    [words.unlimited, { type: 'data', least: Number.POSITIVE_INFINITY }],
    [words.devices, { type: 'device' }],
    [words.fillers, { type: 'filler' }],
    ...namesOfCountries(),
  ]
  const meanings = new Map<string, Meaning>()
  for (const [list, meaning] of lists) {
    for (const key of phrasesIn(list)) if (!meanings.has(key)) meanings.set(key, meaning)
  }
  meanings.delete('')
  return meanings
}

function namesOfCountries(): (readonly [name: string, meaning: Meaning])[] {
  const names = languages.map(
    (language) => new Intl.DisplayNames([language], { type: 'region', fallback: 'none' }),
  )
  return countryCodes().flatMap((code) =>
    [countryName(code), ...names.flatMap((language) => language.of(code) ?? [])]
      // Short Latin names are more likely other words: "man" and, without its accent, Vietnamese "Úc".
      .filter((name) => !/^(?:.|[a-z]{2,3})$/u.test(fold(name)))
      .map((name) => [name.replaceAll(',', ' '), { type: 'country', code }] as const),
  )
}

function allUnits(): Map<string, Unit> {
  const of = (type: 'data' | 'days', table: Readonly<Record<string, string>>) =>
    Object.entries(table).flatMap(([size, list]) =>
      phrasesIn(list).map((word) => [word, { type, size: Number(size) }] as const),
    )
  const others = phrasesIn(words.uncounted).map((word) => [word, { type: 'other' }] as const)
  return new Map<string, Unit>([
    ...others,
    ...of('data', words.gigabytes),
    ...of('days', words.days),
  ])
}

/** The codes that a word or sign may mean, folded and in the singular, the likeliest first. */
function allCurrencies(): Map<string, readonly string[]> {
  const english = new Intl.DisplayNames('en', { type: 'currency' })
  // Without metals and units of account, whose names have other meanings: "gold", "rights".
  const others = Intl.supportedValuesOf('currency').filter((code) => !/^(?:X|ZW)/.test(code))
  const byWord = new Map<string, string[]>()
  for (const code of new Set([...Object.keys(words.currencies), ...others])) {
    const name = (english.of(code) ?? code).split(' ').at(-1) ?? code
    const written: string = words.currencies[code as keyof typeof words.currencies] ?? ''
    for (const word of new Set([code, name, ...written.split(' ')].map(fold))) {
      byWord.set(word, [...(byWord.get(word) ?? []), code])
    }
  }
  const dollars = byWord.get('dollar') ?? []
  for (const word of ['$', 'buck', 'dolar']) byWord.set(word, dollars)
  byWord.delete('')
  return byWord
}

/** From 0 for January. */
function allMonths(): Map<string, number> {
  const months = new Map<string, number>()
  for (const language of languages.slice(0, 8)) {
    for (const form of ['long', 'short'] as const) {
      const { format } = new Intl.DateTimeFormat(language, { month: form, timeZone: 'UTC' })
      for (let month = 0; month < 12; month++) {
        months.set(keyOf(format(Date.UTC(2001, month))), month)
      }
    }
  }
  return months
}

/** Made as the store loads, so that no start and no question waits for it. */
export const vocabulary = makeVocabulary()

export type Vocabulary = typeof vocabulary

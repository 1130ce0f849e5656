import { fold, wordsOf } from '../../lib/text.ts'
import { countryCodes, countryName, countryNames } from '../countries.ts'
import { kinds } from '../good.ts'
import { goods } from '../kinds.ts'
import { voucherSubTypes } from '../lists.ts'
import type { Kind } from '../offer.ts'
import { type Likenesses, likenesses } from '../search/words.ts'
import placeWords from './place-words.json' with { type: 'json' }
import regions from './regions.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

/** What goods are used for: the texts that say so, and the sub-types, which are wider. */
export interface Use {
  readonly name: string
  readonly subTypes: readonly string[]
  readonly texts: readonly string[]
}

/** What a phrase of a question means, whatever the store sells. */
export type Meaning =
  | { readonly type: 'country'; readonly code: string }
  | { readonly type: 'region'; readonly name: string; readonly countries: readonly string[] }
  | { readonly type: 'use'; readonly use: Use }
  | { readonly type: 'kind'; readonly kind: Kind }
  /** What goods are used with. */
  | { readonly type: 'device' }
  | { readonly type: 'days'; readonly least: number }
  | { readonly type: 'data'; readonly least: number }
  /** The bound of an amount, before it or behind it. "Not over" is a maximum, as "at most" is. */
  | {
      readonly type: 'bound'
      readonly bound: 'most' | 'least'
      readonly isNegatable: boolean
      readonly isBehind: boolean
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

/** No phrase of the vocabulary has more words. */
export const longestPhrase = 5

export interface Vocabulary {
  readonly meanings: ReadonlyMap<string, Meaning>
  /** The same phrases without spaces. */
  readonly joined: ReadonlyMap<string, Meaning>
  /** Names of countries in Latin letters, which people misspell. */
  readonly places: Likenesses<string>
  readonly units: ReadonlyMap<string, Unit>
  readonly numbers: ReadonlyMap<string, number>
  /** From 0 for January. */
  readonly months: ReadonlyMap<string, number>
  /** Between two dates or amounts. */
  readonly until: ReadonlySet<string>
  /** Common words that look like names of brands, and are not taken for a part or a misspelling of one. */
  readonly everyday: ReadonlySet<string>
}

let made: Vocabulary | undefined

export function vocabulary(): Vocabulary {
  made ??= makeVocabulary()
  return made
}

function makeVocabulary(): Vocabulary {
  const meanings = allMeanings()
  const places = [...meanings].flatMap(([name, meaning]) =>
    meaning.type === 'country' && /^[a-z ]{5,}$/.test(name)
      ? [[name.replaceAll(' ', ''), meaning.code] as const]
      : [],
  )
  return {
    meanings,
    joined: new Map([...meanings].map(([name, meaning]) => [name.replaceAll(' ', ''), meaning])),
    places: likenesses(places),
    units: allUnits(),
    numbers: new Map(Object.entries(words.numbers)),
    months: allMonths(),
    until: new Set(phrasesIn(words.until)),
    everyday: new Set(phrasesIn(words.everyday)),
  }
}

/** A list of phrases as it is written in a file, as the keys that phrases are looked up by. */
function phrasesIn(list: string): string[] {
  return list.split(',').map(keyOf)
}

/** Words with single spaces between them. A sign is kept as it is. */
function keyOf(phrase: string): string {
  return wordsOf(phrase).join(' ') || phrase.trim()
}

function allMeanings(): Map<string, Meaning> {
  const meanings = new Map<string, Meaning>()
  const addAll = (phrases: readonly string[], meaning: Meaning) => {
    for (const key of phrases) if (key !== '' && !meanings.has(key)) meanings.set(key, meaning)
  }
  const add = (list: string, meaning: Meaning) => addAll(phrasesIn(list), meaning)
  const addBound = (list: string, bound: 'most' | 'least', more = {}) =>
    add(list, { type: 'bound', bound, isNegatable: false, isBehind: false, ...more })
  addBound(words.max, 'most')
  addBound(words.min, 'least')
  addBound(words.over, 'least', { isNegatable: true })
  addBound(words.under, 'most', { isNegatable: true })
  addBound(words.behindMax, 'most', { isBehind: true })
  addBound(words.behindMin, 'least', { isBehind: true })
  add(words.not, { type: 'not' })
  add(words.joins, { type: 'join' })
  for (const [code, list] of Object.entries(placeWords)) add(list, { type: 'country', code })
  for (const { words: list, countries } of regions) {
    const [name = ''] = list.split(',')
    add(list, { type: 'region', name, countries: countries.split(' ') })
  }
  for (const one of words.categories) add(one.words, { type: 'use', use: useOf(one) })
  for (const name of voucherSubTypes)
    add(name, { type: 'use', use: { name, subTypes: [name], texts: [] } })
  for (const kind of kinds) add(goods[kind].words.asked, { type: 'kind', kind })
  add(words.context, { type: 'context' })
  for (const [days, list] of Object.entries(words.spans))
    add(list, { type: 'days', least: Number(days) })
  add(words.unlimited, { type: 'data', least: Number.POSITIVE_INFINITY })
  add(words.devices, { type: 'device' })
  add(words.fillers, { type: 'filler' })
  for (const [code, name] of namesOfCountries()) addAll([keyOf(name)], { type: 'country', code })
  return meanings
}

interface WrittenUse {
  readonly words: string
  readonly subTypes?: string
  readonly texts?: string
}

function useOf({ words: phrases, subTypes, texts }: WrittenUse): Use {
  const list = (text: string | undefined) => text?.split(',').map((each) => each.trim()) ?? []
  const [name = ''] = phrases.split(',')
  return { name, subTypes: list(subTypes), texts: list(texts) }
}

function namesOfCountries(): (readonly [code: string, name: string])[] {
  const names = languages.map(
    (language) => new Intl.DisplayNames([language], { type: 'region', fallback: 'none' }),
  )
  return countryCodes().flatMap((code) => {
    const foreign = names.flatMap((language) => language.of(code) ?? [])
    const english = countryNames(code).filter((name) => name.length > 3)
    return [countryName(code), ...english, ...foreign]
      .filter((name) => !isTooShort(fold(name)))
      .map((name) => [code, name] as const)
  })
}

/** Short Latin names are more likely other words: "man" and, without its accent, Vietnamese "Úc". */
function isTooShort(name: string): boolean {
  return name.length < 2 || /^[a-z]{2,3}$/.test(name)
}

function allUnits(): Map<string, Unit> {
  const of = (type: 'data' | 'days', table: Readonly<Record<string, string>>) =>
    Object.entries(table).flatMap(([size, list]) =>
      phrasesIn(list).map((word) => [word, { type, size: Number(size) }] as const),
    )
  const game = phrasesIn(words.game).map((word) => [word, { type: 'other' }] as const)
  return new Map<string, Unit>([...game, ...of('data', words.gigabytes), ...of('days', words.days)])
}

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

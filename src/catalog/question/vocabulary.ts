import { fold, wordsOf } from '../../lib/text.ts'
import { countryCodes, countryName, countryNames } from '../countries.ts'
import { goods, kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import { type Likenesses, likenesses } from '../search/likenesses.ts'
import placeWords from './place-words.json' with { type: 'json' }
import regions from './regions.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

/** What goods of one use are found by: any of the texts, or else any of the sub-types. */
export interface Category {
  readonly name: string
  readonly subTypes: readonly string[]
  readonly texts: readonly string[]
}

/** What a phrase of a question means, whatever the store sells. */
export type Meaning =
  | { readonly type: 'country'; readonly code: string }
  | { readonly type: 'region'; readonly name: string; readonly countries: readonly string[] }
  | { readonly type: 'category'; readonly category: Category }
  | { readonly type: 'kind'; readonly kind: Kind }
  | { readonly type: 'untold'; readonly word: string }
  /** What goods are used with. A phone stands for its line if nothing else is named. */
  | { readonly type: 'device'; readonly isPhone: boolean }
  | { readonly type: 'filler' }

/** The languages whose names of countries are known. English and place-words.json have further names. */
const languages =
  'en de fr es it pt nl sv da nb fi pl cs sk hu ro bg hr sr sl el tr ru uk ka hy kk ar fa he hi bn ta th vi id ms ja ko zh zh-Hant et lv lt ca'

/** No phrase of the vocabulary has more words. */
export const longestPhrase = 5

export interface Vocabulary {
  readonly meanings: ReadonlyMap<string, Meaning>
  /** Names of countries in Latin letters, which people misspell. */
  readonly places: Likenesses<string>
  /** The same phrases without spaces, for writing that has none. */
  readonly unspaced: ReadonlyMap<string, Meaning>
  /** Common words that look like names of brands, and are not taken for a part or a misspelling of one. */
  readonly everyday: ReadonlySet<string>
}

let made: Vocabulary | undefined

export function vocabulary(): Vocabulary {
  made ??= makeVocabulary()
  return made
}

function makeVocabulary(): Vocabulary {
  const meanings = new Map<string, Meaning>()
  const add = (phrase: string, meaning: Meaning) => {
    const key = wordsOf(phrase).join(' ')
    if (key !== '' && !meanings.has(key)) meanings.set(key, meaning)
  }
  const addAll = (phrases: string, meaning: Meaning) => {
    for (const phrase of phrases.split(',')) add(phrase, meaning)
  }
  for (const [code, phrases] of Object.entries(placeWords)) {
    addAll(phrases, { type: 'country', code })
  }
  for (const { words: phrases, countries } of regions) {
    const name = phrases.split(',')[0] as string
    addAll(phrases, { type: 'region', name, countries: countries.split(' ') })
  }
  for (const one of words.categories) addAll(one.words, categoryOf(one))
  for (const kind of kinds) addAll(goods[kind].words.asked, { type: 'kind', kind })
  for (const word of words.untold.split(', ')) add(word, { type: 'untold', word })
  addAll(words.phones, { type: 'device', isPhone: true })
  addAll(words.devices, { type: 'device', isPhone: false })
  addAll(words.fillers, { type: 'filler' })
  for (const [code, name] of namesOfCountries()) add(name, { type: 'country', code })
  const places = [...meanings].flatMap(([name, meaning]) =>
    meaning.type === 'country' && /^[a-z ]{5,}$/.test(name)
      ? [[name.replaceAll(' ', ''), meaning.code] as const]
      : [],
  )
  const unspaced = new Map(
    [...meanings].map(([name, meaning]) => [name.replaceAll(' ', ''), meaning]),
  )
  const everyday = new Set(words.everyday.split(', '))
  return { meanings, places: likenesses(places), unspaced, everyday }
}

function categoryOf({ words: phrases, ...found }: (typeof words.categories)[number]): Meaning {
  const list = (text: string | undefined) => text?.split(',').map((each) => each.trim()) ?? []
  const name = phrases.split(',')[0] as string
  const { subTypes, texts } = found as { subTypes?: string; texts?: string }
  return { type: 'category', category: { name, subTypes: list(subTypes), texts: list(texts) } }
}

function namesOfCountries(): (readonly [code: string, name: string])[] {
  const codes = countryCodes()
  const names = languages
    .split(' ')
    .map((language) => new Intl.DisplayNames([language], { type: 'region', fallback: 'none' }))
  return codes.flatMap((code) => {
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

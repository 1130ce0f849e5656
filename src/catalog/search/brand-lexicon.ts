import aliases from './brand-aliases.json' with { type: 'json' }
import { alike, type Likenesses, likenesses } from './likenesses.ts'
import type { BrandNames, SearchIndex } from './search-index.ts'
import { nameFormsOf, phraseOf } from './words.ts'

/** How questions name the brands of one index. A brand is identified by its combination in `names`. */
export interface BrandLexicon {
  /** By whole names and aliases, as words with single spaces. */
  readonly whole: ReadonlyMap<string, readonly number[]>
  /** The same without spaces. */
  readonly joined: ReadonlyMap<string, readonly number[]>
  readonly like: Likenesses<readonly number[]>
  /** By one or more words of a name. */
  readonly parts: ReadonlyMap<string, readonly number[]>
  readonly nameOf: (code: number) => string
  /** The brands that are for tests. */
  readonly tests: readonly number[]
}

const known = new WeakMap<SearchIndex, BrandLexicon>()

export function brandLexicon(index: SearchIndex): BrandLexicon {
  const made = known.get(index)
  if (made !== undefined) return made
  const lexicon = makeLexicon(index)
  known.set(index, lexicon)
  return lexicon
}

/** Whether a brand is only for tests, so that questions that do not name it never mean it. */
function isTestBrand({ brand, brandName }: BrandNames): boolean {
  return [brand, brandName].some((name) => /^(?:sandbox|test)(?![a-z])/i.test(name))
}

const aliasWords = Object.entries(aliases).map(
  ([name, list]) => [nameFormsOf(name), list.split(',').map(phraseOf)] as const,
)

function makeLexicon(index: SearchIndex): BrandLexicon {
  const whole = new Map<string, number[]>()
  const joined = new Map<string, number[]>()
  const parts = new Map<string, number[]>()
  const brands = index.brands()
  for (const [code, { brand, brandName }] of brands.entries()) {
    const forms = [...new Set([brand, brandName].flatMap(nameFormsOf).map(phraseOf))]
    for (const form of forms) addTo(whole, form, code)
    for (const part of new Set(forms.flatMap(partsOf))) addTo(parts, part, code)
  }
  for (const [forms, phrases] of aliasWords) {
    const codes = forms.flatMap((form) => whole.get(phraseOf(form)) ?? [])
    // An alias that is the name of another brand means that brand only.
    const free = phrases.filter((phrase) => isOwn(whole.get(phrase), codes))
    for (const phrase of free) addAllTo(whole, phrase, codes)
  }
  for (const [form, codes] of whole) addAllTo(joined, form.replaceAll(' ', ''), codes)
  const tests = [...brands.entries()].flatMap(([code, names]) => (isTestBrand(names) ? [code] : []))
  return {
    whole,
    joined,
    like: likenesses(joined),
    parts,
    tests,
    nameOf: (code) => brands[code]?.brandName ?? '',
  }
}

function addAllTo(map: Map<string, number[]>, key: string, codes: readonly number[]): void {
  for (const code of codes) addTo(map, key, code)
}

function isOwn(have: readonly number[] | undefined, codes: readonly number[]): boolean {
  return have?.every((code) => codes.includes(code)) ?? true
}

function partsOf(form: string): string[] {
  const words = form.split(' ')
  const parts: string[] = []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= words.length; to++) {
      const part = words.slice(from, to).join(' ')
      if (to - from < words.length && part.length > 2) parts.push(part)
    }
  }
  return parts
}

function addTo(map: Map<string, number[]>, key: string, code: number): void {
  const codes = map.get(key)
  if (codes === undefined) map.set(key, [code])
  else if (!codes.includes(code)) codes.push(code)
}

/**
 * The brands of an operator by the name that its numbers are assigned to: "MTN", or "Orange Mali" for a brand that is
 * called Orange in every country.
 */
export function operatorBrands({ whole, parts }: BrandLexicon, name: string): readonly number[] {
  const words = phraseOf(name).split(' ')
  for (let size = words.length; size > 0; size--) {
    const codes = whole.get(words.slice(0, size).join(' '))
    if (codes !== undefined) return codes
  }
  return parts.get(words.join(' ')) ?? []
}

/** The brands whose name or alias differs by one or two letters at most. */
export function brandsLike({ like }: BrandLexicon, text: string): readonly number[] {
  return [...new Set(alike(like, text).flat())]
}

import aliases from './brand-aliases.json' with { type: 'json' }
import type { Brand, SearchIndex } from './search-index.ts'
import { alike, type Likenesses, likenesses, nameFormsOf, phraseOf } from './words.ts'

/** How people name the brands of one index. A brand is identified by the supplier's key. */
export interface BrandLexicon {
  /** By whole names and aliases, as words with single spaces. */
  readonly whole: ReadonlyMap<string, readonly string[]>
  /** The same without spaces. */
  readonly joined: ReadonlyMap<string, readonly string[]>
  readonly like: Likenesses<readonly string[]>
  /** By one or more words of a name. */
  readonly parts: ReadonlyMap<string, readonly string[]>
  readonly nameOf: (brand: string) => string
  /** The brands that are for tests. */
  readonly tests: readonly string[]
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
function isTestBrand({ brand, names }: Brand): boolean {
  return [brand, ...names].some((name) => /^(?:sandbox|test)(?![a-z])/i.test(name))
}

const aliasWords = Object.entries(aliases).map(
  ([name, list]) => [nameFormsOf(name), list.split(',').map(phraseOf)] as const,
)

function makeLexicon(index: SearchIndex): BrandLexicon {
  const whole = new Map<string, string[]>()
  const joined = new Map<string, string[]>()
  const parts = new Map<string, string[]>()
  const nameOf = new Map(index.brands().map(({ brand, names }) => [brand, names[0] ?? '']))
  for (const { brand, names } of index.brands()) {
    const forms = [...new Set([brand, ...names].flatMap(nameFormsOf).map(phraseOf))]
    for (const form of forms) addTo(whole, form, brand)
    for (const part of new Set(forms.flatMap(partsOf))) addTo(parts, part, brand)
  }
  for (const [forms, phrases] of aliasWords) {
    const brands = forms.flatMap((form) => whole.get(phraseOf(form)) ?? [])
    // An alias that is the name of another brand means that brand only.
    const free = phrases.filter((phrase) => isOwn(whole.get(phrase), brands))
    for (const phrase of free) addAllTo(whole, phrase, brands)
  }
  for (const [form, brands] of whole) addAllTo(joined, form.replaceAll(' ', ''), brands)
  return {
    whole,
    joined,
    like: likenesses(joined),
    parts,
    tests: index
      .brands()
      .filter(isTestBrand)
      .map(({ brand }) => brand),
    nameOf: (brand) => nameOf.get(brand) ?? '',
  }
}

function addAllTo(map: Map<string, string[]>, key: string, brands: readonly string[]): void {
  for (const brand of brands) addTo(map, key, brand)
}

function isOwn(have: readonly string[] | undefined, codes: readonly string[]): boolean {
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

function addTo(map: Map<string, string[]>, key: string, brand: string): void {
  const brands = map.get(key)
  if (brands === undefined) map.set(key, [brand])
  else if (!brands.includes(brand)) brands.push(brand)
}

/**
 * The brands of an operator by the name that its numbers are assigned to: "MTN", or "Orange Mali" for a brand that is
 * called Orange in every country.
 */
export function operatorBrands({ whole, parts }: BrandLexicon, name: string): readonly string[] {
  const words = phraseOf(name).split(' ')
  for (let size = words.length; size > 0; size--) {
    const codes = whole.get(words.slice(0, size).join(' '))
    if (codes !== undefined) return codes
  }
  return parts.get(words.join(' ')) ?? []
}

/** The brands whose name or alias differs by one or two letters at most. */
export function brandsLike({ like }: BrandLexicon, text: string): readonly string[] {
  return [...new Set(alike(like, text).flat())]
}

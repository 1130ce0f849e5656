import aliases from './brand-aliases.json' with { type: 'json' }
import type { Brand, SearchIndex } from './search-index.ts'
import { type Likenesses, likenesses, nameFormsOf, phraseOf } from './words.ts'

export interface BrandLexicon {
  /** By whole names and aliases, as words with single spaces. */
  readonly whole: ReadonlyMap<string, readonly string[]>
  /** The same without spaces. */
  readonly joined: ReadonlyMap<string, readonly string[]>
  readonly like: Likenesses<readonly string[]>
  readonly parts: ReadonlyMap<string, readonly string[]>
  readonly nameOf: (brand: string) => string
  readonly tests: readonly string[]
}

const lexicons = new WeakMap<readonly Brand[], BrandLexicon>()

export function brandLexicon(index: SearchIndex): BrandLexicon {
  const brands = index.brands()
  const lexicon = lexicons.get(brands) ?? makeLexicon(brands)
  lexicons.set(brands, lexicon)
  return lexicon
}

function isTestBrand({ brand, names }: Brand): boolean {
  return [brand, ...names].some((name) => /^(?:sandbox|test)(?![a-z])/i.test(name))
}

function makeLexicon(brands: readonly Brand[]): BrandLexicon {
  const whole = new Map<string, string[]>()
  const joined = new Map<string, string[]>()
  const parts = new Map<string, string[]>()
  const forms = brands.flatMap(({ brand, names }) =>
    [brand, ...names].flatMap(nameFormsOf).map((form) => [phraseOf(form), brand] as const),
  )
  for (const [form, brand] of forms) {
    addTo(whole, form, [brand])
    for (const [word] of form.matchAll(/[^ ]{3,}/g)) addTo(parts, word, [brand])
  }
  for (const [name, list] of Object.entries(aliases)) {
    const named = whole.get(phraseOf(name)) ?? []
    for (const alias of list.split(',')) addTo(whole, phraseOf(alias), named)
  }
  for (const [form, keys] of whole) addTo(joined, form.replaceAll(' ', ''), keys)
  const nameOf = new Map(brands.map(({ brand, names }) => [brand, names[0]]))
  return {
    whole,
    joined,
    like: likenesses(joined),
    parts,
    tests: brands.filter(isTestBrand).map(({ brand }) => brand),
    nameOf: (brand) => nameOf.get(brand) ?? '',
  }
}

function addTo(map: Map<string, string[]>, key: string, brands: readonly string[]): void {
  const known = map.get(key) ?? []
  for (const brand of brands) if (!known.includes(brand)) known.push(brand)
  if (known.length > 0) map.set(key, known)
}

export function brandsLike({ like }: BrandLexicon, text: string): readonly string[] {
  return [...new Set(like(text).flat())]
}

import { countryCodes } from '../../catalog/countries.ts'
import { once } from './once.ts'
import type { Texts } from './texts.ts'

interface Country {
  readonly code: string
  readonly name: string
}

interface Countries {
  readonly byName: readonly Country[]
  /** Each name and its position in the list, by code. */
  readonly byCode: ReadonlyMap<string, { readonly name: string; readonly place: number }>
}

const countriesIn = once((language: string): Countries => {
  const names = new Intl.DisplayNames(language, { type: 'region' })
  const byName = countryCodes()
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .sort((one, other) => one.name.localeCompare(other.name, language))
  const byCode = new Map(byName.map(({ code, name }, place) => [code, { name, place }]))
  return { byName, byCode }
})

/** The name of a country in the language of the pages, or its code if no name is known. */
export function countryName(code: string, t: Texts): string {
  return countriesIn(t.language).byCode.get(code)?.name ?? code
}

export function countriesByName(t: Texts): readonly Country[] {
  return countriesIn(t.language).byName
}

/** The position of a country in the list sorted by name. */
export function placeByName(code: string, t: Texts): number {
  const { byCode } = countriesIn(t.language)
  return byCode.get(code)?.place ?? byCode.size
}

import { countryCodes } from '../../catalog/countries.ts'
import type { Texts } from './texts.ts'

interface Country {
  readonly code: string
  readonly name: string
}

interface Countries {
  readonly byName: readonly Country[]
  /** Each name and its place in the list, by code. */
  readonly byCode: ReadonlyMap<string, { readonly name: string; readonly place: number }>
}

/** Made once for a language: to sort some hundred names takes longer than most pages. */
const known = new Map<string, Countries>()

/** The name of a country in the language of the pages, or its code where no name is known. */
export function countryName(code: string, t: Texts): string {
  return countriesIn(t).byCode.get(code)?.name ?? code
}

/** Every country by its name. */
export function countriesByName(t: Texts): readonly Country[] {
  return countriesIn(t).byName
}

/** The place of a country in the list of all countries by name. */
export function placeByName(code: string, t: Texts): number {
  const { byCode } = countriesIn(t)
  return byCode.get(code)?.place ?? byCode.size
}

function countriesIn({ language }: Texts): Countries {
  const there = known.get(language)
  if (there !== undefined) return there
  const names = new Intl.DisplayNames(language, { type: 'region' })
  const byName = countryCodes()
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .sort((one, other) => one.name.localeCompare(other.name, language))
  const byCode = new Map(byName.map(({ code, name }, place) => [code, { name, place }]))
  const made = { byName, byCode }
  known.set(language, made)
  return made
}

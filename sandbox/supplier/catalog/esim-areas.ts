import { countriesOf, countryName, places, type Region } from './regions.ts'

/** Where a plan works: one country, or a bundle of them with a blank country. */
export interface Area {
  readonly id: string
  readonly name: string
  readonly country: string
  readonly regions: readonly Region[]
  readonly covers: readonly string[]
}

/** Countries no travel plan reaches, in this catalog. */
const unserved = new Set(['KP', 'IR', 'SY', 'SS', 'ER', 'YE', 'CU', 'TM', 'SO', 'VU', 'TV', 'KI'])

function served(...regions: readonly Region[]): readonly string[] {
  return countriesOf(...regions).filter((code) => !unserved.has(code))
}

function area(id: string, name: string, region: Region, covers: readonly string[]): Area {
  return { id, name, country: '', regions: [region], covers }
}

const asia = served('Asia', 'South Asia', 'Southeast Asia')
const europe = served('Western Europe', 'Eastern Europe')

/** Bundles carry the ten coarse regions only: South America and the parts of Asia never appear. */
const bundles: readonly Area[] = [
  area(
    'GLOBAL',
    'Global',
    'Global',
    [...places.keys()].filter((code) => !unserved.has(code)),
  ),
  area('EUROPE', 'Europe', 'Western Europe', europe),
  area('ASIA', 'Asia', 'Asia', asia),
  area('AFRICA', 'Africa', 'Africa', served('Africa')),
  area('NORTHAMERICA', 'North America', 'North America', served('North America')),
  area('CARIBBEAN', 'Caribbean', 'Caribbean', served('Caribbean')),
  area(
    'MIDEAST',
    'Middle East and North Africa',
    'Middle East and North Africa',
    served('Middle East and North Africa'),
  ),
  area('OCEANIA', 'Oceania', 'Oceania', served('Oceania')),
  area('EEUROPE', 'Eastern Europe', 'Eastern Europe', served('Eastern Europe')),
  area('CAMERICA', 'Central America', 'Central America', served('Central America')),
  area('LATAM', 'Latin America', 'Central America', [
    'MX',
    ...served('Central America', 'South America'),
  ]),
  area(
    'AMERICAS',
    'Americas',
    'North America',
    served('North America', 'Central America', 'South America', 'Caribbean'),
  ),
  area('WORLD50', 'World top 50', 'Global', [
    ...europe.slice(0, 20),
    ...asia.slice(0, 20),
    'US',
    'CA',
    'MX',
    'BR',
    'AR',
    'ZA',
    'EG',
    'AE',
    'AU',
    'NZ',
  ]),
  area('USCA', 'USA and Canada', 'North America', ['US', 'CA']),
  area('NORDICS', 'Nordics', 'Western Europe', ['DK', 'FI', 'IS', 'NO', 'SE']),
  area('BENELUX', 'Benelux', 'Western Europe', ['BE', 'LU', 'NL']),
  area('IBERIA', 'Iberia', 'Western Europe', ['AD', 'ES', 'GI', 'PT']),
  area('ALPS', 'Alps', 'Western Europe', ['AT', 'CH', 'DE', 'FR', 'IT', 'LI']),
  area('BRITISHISLES', 'British Isles', 'Western Europe', ['GB', 'GG', 'IE', 'IM', 'JE']),
  area('BALKANS', 'Balkans', 'Eastern Europe', [
    'AL',
    'BA',
    'BG',
    'HR',
    'ME',
    'MK',
    'RS',
    'SI',
    'XK',
  ]),
  area('BALTICS', 'Baltics', 'Eastern Europe', ['EE', 'LT', 'LV']),
  area('GULF', 'Gulf states', 'Middle East and North Africa', ['AE', 'BH', 'KW', 'OM', 'QA', 'SA']),
  area('MAGHREB', 'Maghreb', 'Middle East and North Africa', ['DZ', 'MA', 'TN']),
  area('EASTAFRICA', 'East Africa', 'Africa', ['BI', 'KE', 'RW', 'TZ', 'UG']),
  area('SOUTHAFRICA', 'Southern Africa', 'Africa', [
    'BW',
    'LS',
    'MZ',
    'NA',
    'SZ',
    'ZA',
    'ZM',
    'ZW',
  ]),
  area('WESTAFRICA', 'West Africa', 'Africa', ['BJ', 'CI', 'GH', 'GN', 'ML', 'NG', 'SN', 'TG']),
  area('ASEAN', 'Southeast Asia trip', 'Asia', ['ID', 'KH', 'LA', 'MY', 'PH', 'SG', 'TH', 'VN']),
  area('GREATERCHINA', 'China, Hong Kong, Macao and Taiwan', 'Asia', ['CN', 'HK', 'MO', 'TW']),
  area('JPKR', 'Japan and South Korea', 'Asia', ['JP', 'KR']),
  area('SGMYTH', 'Singapore, Malaysia and Thailand', 'Asia', ['MY', 'SG', 'TH']),
  area('ANZ', 'Australia and New Zealand', 'Oceania', ['AU', 'NZ']),
  area('FRENCHISLES', 'French Antilles', 'Caribbean', ['GP', 'MQ']),
]

/** Countries most travelled to come first, so that they have the most plans. */
const popular = 'US ES GB FR IT DE JP TH TR MX AE CA GR PT ID CN KR SG AU BR VN MY CH NL AT PL EG'

const singles: readonly Area[] = [...new Set([...popular.split(' '), ...places.keys()])]
  .filter((code) => !unserved.has(code))
  .map((code) => ({
    id: code,
    name: countryName(code),
    country: code,
    regions: [places.get(code)?.region ?? 'Global'],
    covers: [code],
  }))

export const areas: readonly Area[] = [...singles.slice(0, 12), ...bundles, ...singles.slice(12)]

import { countryName, places, type Region } from './regions.ts'

/** Where a plan works: one country, or a bundle of countries, whose `country` is empty. */
export interface Area {
  readonly id: string
  readonly name: string
  readonly country: string
  readonly regions: readonly Region[]
  readonly covers: readonly string[]
}

const unserved = new Set(['KP', 'IR', 'SY', 'SS', 'ER', 'YE', 'CU', 'TM', 'SO', 'VU', 'TV', 'KI'])

/**
 * One bundle for each line: id | name | region | the countries it covers, and the regions of which it covers all
 * except the unserved countries. The region of a bundle is one of the ten coarse ones: never South America or a part
 * of Asia.
 */
const table = `
GLOBAL | Global | Global | @Global
EUROPE | Europe | Western Europe | @Eastern_Europe @Western_Europe
ASIA | Asia | Asia | @Asia @South_Asia @Southeast_Asia
AFRICA | Africa | Africa | @Africa
NORTHAMERICA | North America | North America | @North_America
CARIBBEAN | Caribbean | Caribbean | @Caribbean
MIDEAST | Middle East and North Africa | Middle East and North Africa | @Middle_East_and_North_Africa
OCEANIA | Oceania | Oceania | @Oceania
EEUROPE | Eastern Europe | Eastern Europe | @Eastern_Europe
CAMERICA | Central America | Central America | @Central_America
LATAM | Latin America | Central America | MX @Central_America @South_America
AMERICAS | Americas | North America | @Caribbean @Central_America @North_America @South_America
WORLD50 | World top 50 | Global | AL AM AZ BA BG BY CZ EE GE HR HU LT LV MD ME MK PL RO RS RU CN HK JP KG KR KZ MN MO TJ TW UZ AF BD BT IN LK MV NP PK BN US CA MX BR AR ZA EG AE AU NZ
USCA | USA and Canada | North America | US CA
NORDICS | Nordics | Western Europe | DK FI IS NO SE
BENELUX | Benelux | Western Europe | BE LU NL
IBERIA | Iberia | Western Europe | AD ES GI PT
ALPS | Alps | Western Europe | AT CH DE FR IT LI
BRITISHISLES | British Isles | Western Europe | GB GG IE IM JE
BALKANS | Balkans | Eastern Europe | AL BA BG HR ME MK RS SI XK
BALTICS | Baltics | Eastern Europe | EE LT LV
GULF | Gulf states | Middle East and North Africa | AE BH KW OM QA SA
MAGHREB | Maghreb | Middle East and North Africa | DZ MA TN
EASTAFRICA | East Africa | Africa | BI KE RW TZ UG
SOUTHAFRICA | Southern Africa | Africa | BW LS MZ NA SZ ZA ZM ZW
WESTAFRICA | West Africa | Africa | BJ CI GH GN ML NG SN TG
ASEAN | Southeast Asia trip | Asia | ID KH LA MY PH SG TH VN
GREATERCHINA | China, Hong Kong, Macao and Taiwan | Asia | CN HK MO TW
JPKR | Japan and South Korea | Asia | JP KR
SGMYTH | Singapore, Malaysia and Thailand | Asia | MY SG TH
ANZ | Australia and New Zealand | Oceania | AU NZ
FRENCHISLES | French Antilles | Caribbean | GP MQ`

function areaOf(line: string): Area {
  const [id = '', name = '', region, covered = ''] = line.split(' | ')
  return {
    id,
    name,
    country: '',
    regions: [region as Region],
    covers: covered.split(' ').flatMap(coversOf),
  }
}

function coversOf(entry: string): readonly string[] {
  if (!entry.startsWith('@')) return [entry]
  const region = entry.slice(1).replaceAll('_', ' ')
  return [...places.values()]
    .filter((place) => region === 'Global' || place.region === region)
    .map(({ code }) => code)
    .filter((code) => !unserved.has(code))
}

const bundles = table.trim().split('\n').map(areaOf)

/** The most visited countries. They come first, so that they get the most plans. */
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

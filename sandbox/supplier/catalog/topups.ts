import operators from '../data/operators.json' with { type: 'json' }
import type { Allowance, TopupOffer } from '../models.ts'
import { divisorOf, faceAmounts, openAmounts, roundUnit } from './amounts.ts'
import { countryName, places } from './regions.ts'
import { hash32, random, stamps } from './rng.ts'
import { nothing } from './test-offers.ts'
import { brandId } from './voucher-brands.ts'

interface Line {
  readonly brand: string
  readonly brandName: string
  readonly country: string
  readonly currency: string
  /** 0 for the largest operator of the country. */
  readonly rank: number
}

/** The operators of all countries that are in a region, largest of each country first. */
const lines: readonly Line[] = Object.entries(operators as Record<string, string[]>).flatMap(
  ([country, names]) => {
    const place = places.get(country)
    if (!place) return []
    const { currency } = place
    return names.map((brandName, rank) => {
      return { brand: brandId(brandName), brandName, country, currency, rank }
    })
  },
)

const airtime = [5, 10, 2, 20, 1, 15, 3, 25, 30, 50, 8, 4, 6, 12, 40, 7, 9, 18, 35, 60, 75, 100]
const gigabytes = [1, 5, 3, 10, 2, 0.5, 20, 8, 15, 6, 30, 4, 12, 50]
const days = [30, 7, 1, 15, 3, 14, 90, 60]
const calls = [100, 200, 60, 300, 500, 30, 1000, 150, 250, 90]

type Sold = Pick<TopupOffer, 'subTypes' | 'shortNotes' | 'notes'> & Partial<Allowance>

function common({ brand, brandName, country }: Line, id: string, sold: Sold) {
  const offerId = `${brand}_${country}_${id}`
  const next = random(offerId)
  return {
    ...nothing,
    ...sold,
    brand,
    brandName,
    country,
    enabled: next() >= 0.01,
    offerId,
    productType: 'TOPUP' as const,
    regions: [places.get(country)?.region ?? 'Global'],
    ...stamps(next),
  }
}

function ratesOf({ brand, country }: Line) {
  return { markup: 1.04, discount: 0.02 + (hash32(`discount ${brand} ${country}`) % 7) / 100 }
}

function fixed(line: Line, id: string, face: number, sold: Sold): TopupOffer {
  const { brand, country, currency } = line
  const isLocal = hash32(`price ${brand} ${country}`) % 40 === 0 && currency === 'EUR'
  const sale = isLocal ? currency : 'USD'
  return {
    ...common(line, id, sold),
    ...faceAmounts(face, currency, { sale, ...ratesOf(line) }),
  }
}

function faceOf({ currency }: Line, units: number): number {
  const rounded = Number((units * roundUnit(currency)).toPrecision(6))
  return Math.max(1, Math.round(rounded * divisorOf(currency)))
}

function airtimeOf({ brandName, country }: Line, amount: string): Sold {
  return {
    subTypes: ['Mobile Top Up'],
    shortNotes: `${brandName} airtime ${amount}`,
    notes: `Airtime for any prepaid ${brandName} number in ${countryName(country)}.`,
  }
}

function open(line: Line): TopupOffer {
  const price = { increment: 10, margin: 4, min: 100, max: 5_000 }
  return {
    ...common(line, 'OPEN', airtimeOf(line, 'of a value you choose')),
    ...openAmounts(line.currency, price, ratesOf(line)),
  }
}

function topUp(line: Line, index: number): TopupOffer | undefined {
  const units = airtime[index]
  if (units === undefined) return undefined
  const face = faceOf(line, units)
  const amount = String(face / divisorOf(line.currency))
  const id = amount.replace('.', '-').padStart(3, '0')
  return fixed(line, id, face, airtimeOf(line, `${amount} ${line.currency}`))
}

function data(line: Line, index: number): TopupOffer | undefined {
  const gb = gigabytes[index % gigabytes.length]
  const span = days[(index + Math.floor(index / gigabytes.length)) % days.length]
  if (gb === undefined || span === undefined || index >= gigabytes.length * days.length) {
    return undefined
  }
  const face = faceOf(line, Math.ceil(1 + gb * 1.2 + span / 10))
  return fixed(line, `DATA_${String(gb).replace('.', '-')}GB_${span}D`, face, {
    subTypes: ['Mobile Data'],
    dataGB: gb,
    durationDays: span,
    shortNotes: `${gb} GB for ${span} days`,
    notes: `${gb} GB of mobile data with ${line.brandName}, used within ${span} days.`,
  })
}

function bundle(line: Line, index: number): TopupOffer | undefined {
  const minutes = calls[index % calls.length]
  const round = Math.floor(index / calls.length)
  const span = days[(index + round) % days.length]
  const gb = gigabytes[(index * 3 + round) % gigabytes.length]
  if (minutes === undefined || span === undefined || gb === undefined || round >= days.length) {
    return undefined
  }
  const unlimited = index % 9 === 8
  const face = faceOf(line, Math.ceil(2 + gb + minutes / 60 + span / 10 + (unlimited ? 12 : 0)))
  const volume = unlimited ? 'Unlimited data' : `${gb} GB`
  const name = unlimited ? 'UNLIMITED' : `${String(gb).replace('.', '-')}GB`
  return fixed(line, `BUNDLE_${name}_${minutes}MIN_${span}D`, face, {
    subTypes: ['Mobile Bundle'],
    dataGB: unlimited ? 0 : gb,
    dataUnlimited: unlimited,
    durationDays: span,
    smsNumber: index % 4 === 3 ? 0 : minutes,
    smsUnlimited: index % 4 === 3,
    voiceMinutes: minutes,
    shortNotes: `${volume}, ${minutes} minutes and messages for ${span} days`,
    notes: `${volume}, ${minutes} minutes to any network and text messages with ${line.brandName}, used within ${span} days.`,
  })
}

/** Operators whose open airtime is in the supplier's documentation. */
const alwaysOpen = new Set(['CUBACEL CU', 'CLARO GT'])

/** The `slot`-th offer of an operator: alternately airtime, data and bundles. */
function offerAt(line: Line, slot: number): TopupOffer | undefined {
  const name = `${line.brand} ${line.country}`
  const opens = alwaysOpen.has(name) || hash32(`open ${name}`) % 2 === 0
  if (slot === 0 && opens) return open(line)
  const kinds = [topUp, data, bundle] as const
  return kinds[slot % 3]?.(line, Math.floor(slot / 3))
}

/** An endless sequence of topup offers, in waves: large operators and common amounts first. */
export function* topups(countries?: readonly string[]): Generator<TopupOffer> {
  const deepest = 3 * gigabytes.length * days.length
  const sold = countries ? lines.filter(({ country }) => countries.includes(country)) : lines
  for (let wave = 0; wave < deepest; wave += 1) {
    for (const line of sold) {
      if (line.rank > wave) continue
      const offer = offerAt(line, wave - line.rank)
      if (offer) yield offer
    }
  }
}

import operators from '../data/operators.json' with { type: 'json' }
import type { Allowance, TopupOffer } from '../models.ts'
import { convert, costOf, divisorOf, fixedCost, fixedPrice, roundUnit } from './amounts.ts'
import { countryName, places } from './regions.ts'
import { hash32, random } from './rng.ts'
import { stamps } from './stamps.ts'
import { brandId } from './voucher-brands.ts'

interface Line {
  readonly brand: string
  readonly brandName: string
  readonly country: string
  readonly currency: string
  /** 0 for the largest operator of the country. */
  readonly rank: number
}

const nothing: Allowance = {
  dataGB: 0,
  dataUnlimited: false,
  durationDays: 0,
  smsNumber: 0,
  smsUnlimited: false,
  voiceMinutes: 0,
  voiceUnlimited: false,
}

/** The operators of all countries that are in a region, largest of each country first. */
const lines: readonly Line[] = Object.entries(operators as Record<string, string[]>)
  .flatMap(([country, names]) =>
    names.map((brandName, rank) => ({ brand: brandId(brandName), brandName, country, rank })),
  )
  .flatMap((line) => {
    const place = places.get(line.country)
    return place ? [{ ...line, currency: place.currency }] : []
  })

const airtime = [5, 10, 2, 20, 1, 15, 3, 25, 30, 50, 8, 4, 6, 12, 40, 7, 9, 18, 35, 60, 75, 100]
const gigabytes = [1, 5, 3, 10, 2, 0.5, 20, 8, 15, 6, 30, 4, 12, 50]
const days = [30, 7, 1, 15, 3, 14, 90, 60]
const calls = [100, 200, 60, 300, 500, 30, 1000, 150, 250, 90]

type Sold = Pick<TopupOffer, 'subTypes' | 'shortNotes' | 'notes'> & Allowance

function common(line: Line, offerId: string, sold: Sold) {
  const next = random(offerId)
  const { brand, brandName, country } = line
  return {
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

function discountOf(line: Line): number {
  return 0.02 + (hash32(`discount ${line.brand} ${line.country}`) % 7) / 100
}

/** An offer worth `face` minor units of the line's currency, priced a little above the exchange rate. */
function fixed(line: Line, id: string, face: number, sold: Sold): TopupOffer {
  const { currency } = line
  const divisor = divisorOf(currency)
  const local = hash32(`price ${line.brand} ${line.country}`) % 40 === 0 && currency === 'EUR'
  const sale = local ? currency : 'USD'
  const price = convert(Math.ceil(face * 1.04), currency, sale)
  const fx = Number((face / divisor / (price / divisorOf(sale))).toPrecision(8))
  const discount = discountOf(line)
  return {
    ...common(line, `${line.brand}_${line.country}_${id}`, sold),
    cost: fixedCost(costOf(price, sale, discount), discount, fx),
    price: fixedPrice(price, sale, fx),
    priceType: 'FIXED',
    send: { currency, currencyDivisor: divisor, fixed: face, fx },
  }
}

function faceOf(line: Line, units: number): number {
  const rounded = Number((units * roundUnit(line.currency)).toPrecision(6))
  return Math.max(1, Math.round(rounded * divisorOf(line.currency)))
}

function major(line: Line, face: number): string {
  return String(face / divisorOf(line.currency))
}

function open(line: Line): TopupOffer {
  const { currency } = line
  const divisor = divisorOf(currency)
  const fx = Number((convert(100_000, 'USD', currency) / divisor / 1040).toPrecision(8))
  const discount = discountOf(line)
  const [min, max] = [100, 5_000]
  const toFace = (minor: number) => Math.max(1, Math.floor((minor / 100) * fx * divisor))
  const dollars = { currency: 'USD', currencyDivisor: 100, fee: 0, fx }
  const cost = { min: Math.floor(min * (1 - discount)), max: Math.floor(max * (1 - discount)) }
  const sold = {
    ...nothing,
    subTypes: ['Mobile Top Up'],
    shortNotes: `${line.brandName} airtime of a value you choose`,
    notes: `Airtime for any prepaid ${line.brandName} number in ${countryName(line.country)}.`,
  }
  return {
    ...common(line, `${line.brand}_${line.country}_OPEN`, sold),
    cost: { ...dollars, ...cost, discount: Math.round(discount * 1000) / 10, feePct: 0 },
    price: { ...dollars, increment: 10, margin: 4, min, max, suggestedFx: fx },
    priceType: 'RANGE',
    send: { currency, currencyDivisor: divisor, fx, min: toFace(min), max: toFace(max) },
  }
}

function topUp(line: Line, index: number): TopupOffer | undefined {
  const units = airtime[index]
  if (units === undefined) return undefined
  const face = faceOf(line, units)
  const amount = major(line, face)
  return fixed(line, amount.replace('.', '-').padStart(3, '0'), face, {
    ...nothing,
    subTypes: ['Mobile Top Up'],
    shortNotes: `${line.brandName} airtime ${amount} ${line.currency}`,
    notes: `Airtime for any prepaid ${line.brandName} number in ${countryName(line.country)}.`,
  })
}

function data(line: Line, index: number): TopupOffer | undefined {
  const gb = gigabytes[index % gigabytes.length]
  const span = days[(index + Math.floor(index / gigabytes.length)) % days.length]
  if (gb === undefined || span === undefined || index >= gigabytes.length * days.length) {
    return undefined
  }
  const face = faceOf(line, Math.ceil(1 + gb * 1.2 + span / 10))
  return fixed(line, `DATA_${String(gb).replace('.', '-')}GB_${span}D`, face, {
    ...nothing,
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
    voiceUnlimited: false,
    shortNotes: `${volume}, ${minutes} minutes and messages for ${span} days`,
    notes: `${volume}, ${minutes} minutes to any network and text messages with ${line.brandName}, used within ${span} days.`,
  })
}

/** Operators whose open airtime is in the supplier's documentation. */
const alwaysOpen = new Set(['CUBACEL CU', 'CLARO GT'])

/** The `slot`-th offer of an operator: alternately airtime, data and bundles. */
function offerAt(line: Line, slot: number): TopupOffer | undefined {
  const opens =
    alwaysOpen.has(`${line.brand} ${line.country}`) ||
    hash32(`open ${line.brand} ${line.country}`) % 2 === 0
  if (slot === 0 && opens) return open(line)
  const index = Math.floor(slot / 3)
  const kinds = [topUp, data, bundle] as const
  return kinds[slot % 3]?.(line, index)
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

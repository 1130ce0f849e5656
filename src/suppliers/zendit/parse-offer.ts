import { countryOfCode } from '../../catalog/countries.ts'
import type { Coverage } from '../../catalog/kinds/esim.ts'
import { regions, voucherSubTypes } from '../../catalog/lists.ts'
import type {
  Allowance,
  Kind,
  LandedCost,
  MoneyRange,
  Offer,
  OfferBase,
} from '../../catalog/offer.ts'
import type { OfferId } from '../../lib/ids.ts'
import {
  lineOf,
  linesOf,
  listOf,
  positiveOf,
  present,
  type Raw,
  type RejectionReason,
  recordOf,
  textOf,
  wholePositiveOf,
} from './client.ts'

/** Also part of the URL of its page, where `.` and `..` would be path steps. */
const offerIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

const productTypes: Readonly<Record<Kind, string>> = {
  voucher: 'VOUCHER',
  topup: 'TOPUP',
  esim: 'ESIM',
}

const topupSubTypeNames: ReadonlyMap<string, string> = new Map([
  ['mobile top up', 'voice'],
  ['mobile bundle', 'bundle'],
  ['mobile data', 'data'],
])

const publishedNames: ReadonlyMap<string, string> = new Map(
  [...regions, ...voucherSubTypes].map((name) => [name.toLowerCase(), name]),
)

/** In the record zero, false, blank and null mean "does not apply"; in the offer such a field is absent. */
export function parseOffer(record: unknown, kind: Kind): Offer | RejectionReason {
  const raw = recordOf(record)
  if (raw === undefined) return 'not_an_object'
  const base = baseOf(raw, kind)
  if (typeof base === 'string') return base
  switch (kind) {
    case 'voucher':
      return voucherOf(base, raw)
    case 'topup':
      return topupOf(base, raw)
    case 'esim':
      return esimOf(base, raw)
  }
}

function baseOf(raw: Raw, kind: Kind): OfferBase | RejectionReason {
  const reason = identityRejection(raw, kind)
  if (reason !== undefined) return reason
  const brand = lineOf(raw['brand'], 100) ?? lineOf(raw['brandName'], 200)
  if (brand === undefined) return 'no_brand'
  const country = countryOf(raw['country'])
  const isNamed = lineOf(raw['country'], 10) !== undefined
  // Zendit says that the countries of some eSIMs are not codes of ISO 3166-1; a plan says in its notes where it works.
  if (isNamed && country === undefined && kind !== 'esim') return 'unknown_country'
  const price = priceOf(raw)
  if (typeof price === 'string') return price
  const cost = costOf(raw, price)
  if (typeof cost === 'string') return cost
  return present({
    id: raw['offerId'] as OfferId,
    source: { supplier: 'zendit', product: String(raw['offerId']) },
    brand,
    brandName: lineOf(raw['brandName'], 200) ?? brand,
    country,
    regions: linesOf(raw['regions'], { items: 30, length: 60 }).map(publishedNameOf),
    subTypes: subTypesOf(raw, kind),
    productType: productTypes[kind],
    shortNotes: lineOf(raw['shortNotes'], 500),
    notes: textOf(raw['notes'], 5_000),
    price,
    cost,
    faceValue: faceValueOf(raw),
  })
}

function identityRejection(raw: Raw, kind: Kind): RejectionReason | undefined {
  const { offerId, productType, enabled } = raw
  if (typeof offerId !== 'string' || offerId === '') return 'missing_offer_id'
  if (!offerIdPattern.test(offerId)) return 'bad_offer_id'
  // Zendit's list holds disabled offers too. One that does not say is not sold either.
  if (enabled !== true) return 'disabled'
  const isOther = productType !== undefined && productType !== productTypes[kind]
  return isOther ? 'wrong_product_type' : undefined
}

function voucherOf(base: OfferBase, raw: Raw): Offer | RejectionReason {
  if (base.country === undefined) return 'no_country'
  const required = raw['requiredFields'] ?? []
  const requiredFields = linesOf(required, { items: 50, length: 100 })
  // A purchase without a field that its brand requires is refused after the buyer has paid.
  const isWhole = Array.isArray(required) && requiredFields.length === new Set(required).size
  if (!isWhole) return 'bad_required_fields'
  const names = base.subTypes
  const subTypes = voucherSubTypesOf(names)
  const isPublished =
    names.length === subTypes.length && names.every((name, at) => name === subTypes[at])
  const own = isPublished || names.length === 0 ? {} : { categories: names }
  return { ...base, subTypes, ...own, kind: 'voucher', requiredFields }
}

function topupOf(base: OfferBase, raw: Raw): Offer | RejectionReason {
  const { country } = base
  if (country === undefined) return 'no_country'
  return { ...base, country, kind: 'topup', allowance: allowanceOf(raw) }
}

function esimOf(base: OfferBase, raw: Raw): Offer | RejectionReason {
  const coverage = coverageOf(base.country, raw)
  if (coverage.length === 0 && lineOf(raw['country'], 10) === undefined) return 'no_coverage'
  return { ...base, kind: 'esim', allowance: allowanceOf(raw), coverage }
}

function subTypesOf(raw: Raw, kind: Kind): string[] {
  const names = linesOf(raw['subTypes'], { items: 20, length: 60 })
  if (kind !== 'topup') return names.map(publishedNameOf)
  // The published list of topup sub-types is closed; an unknown one is left out.
  const subTypes = names.map((name) => topupSubTypeNames.get(name.toLowerCase()))
  return subTypes.filter((name) => name !== undefined)
}

/** The published list of voucher sub-types is closed, and every voucher has at least one of them. */
function voucherSubTypesOf(names: readonly string[]): string[] {
  const published = names.map((name) => {
    if (voucherSubTypes.some((one) => one === name)) return name
    return name.toLowerCase() === 'online shopping' ? 'Shopping' : 'General Merchandise'
  })
  return published.length === 0 ? ['General Merchandise'] : [...new Set(published)]
}

function publishedNameOf(name: string): string {
  return publishedNames.get(name.toLowerCase()) ?? name
}

function allowanceOf(raw: Raw): Allowance {
  return present({
    dataGb: positiveOf(raw['dataGB']),
    dataUnlimited: raw['dataUnlimited'] === true ? true : undefined,
    durationDays: wholePositiveOf(raw['durationDays']),
    voiceMinutes: wholePositiveOf(raw['voiceMinutes']),
    voiceUnlimited: raw['voiceUnlimited'] === true ? true : undefined,
    smsNumber: wholePositiveOf(raw['smsNumber']),
    smsUnlimited: raw['smsUnlimited'] === true ? true : undefined,
  })
}

function coverageOf(own: string | undefined, raw: Raw): Coverage[] {
  const speeds = new Map<string, Set<string>>()
  const add = (country: string | undefined, dataSpeeds: unknown) => {
    if (country === undefined) return
    const countrySpeeds = speeds.get(country) ?? new Set()
    for (const speed of speedsOf(dataSpeeds)) countrySpeeds.add(speed)
    speeds.set(country, countrySpeeds)
  }
  add(own, raw['dataSpeeds'])
  for (const item of listOf(raw['roaming']).slice(0, 300)) {
    const roaming = recordOf(item)
    add(countryOf(roaming?.['country']), roaming?.['dataSpeeds'])
  }
  return [...speeds].map(([country, set]) => ({ country, speeds: [...set] }))
}

function speedsOf(value: unknown): string[] {
  const speeds = linesOf(value, { items: 10, length: 10 }).map((speed) => speed.toUpperCase())
  return speeds.filter((speed) => /^\dG$/.test(speed))
}

/** Undefined if the supplier names no country, or one without a code. */
export function countryOf(code: unknown): string | undefined {
  return countryOfCode(lineOf(code, 10) ?? '')
}

/** Far above anything on sale, and far below where cents of a dollar would stop being exact. */
const maxMinorUnits = 1e10

/** A buyer pays the fee besides the price, as the record of a purchase says: `price` is `priceBase` and `priceFee`. */
function priceOf(raw: Raw): MoneyRange | RejectionReason {
  if (typeof raw['price'] === 'number') return plainPrice(raw['price'], recordOf(raw['cost']))
  const price = moneyOf(raw['price'], raw['priceType'])
  const fee = recordOf(raw['price'])?.['fee'] ?? 0
  if (typeof price === 'string' || fee === 0) return price
  if (!isFee(fee) || !Number.isInteger(fee)) return 'bad_fee'
  return price.type === 'FIXED' ? { ...price, fixed: price.fixed + fee } : { ...price, fee }
}

/** Cost plus fees. An offer whose cost cannot be read is rejected, because it might be sold at a loss. */
function costOf(raw: Raw, price: MoneyRange): LandedCost | RejectionReason {
  const cost = moneyOf(raw['cost'], price.type)
  const { fee = 0, feePct = 0 } = recordOf(raw['cost']) ?? {}
  if (typeof cost === 'string' || !isFee(fee) || !isFee(feePct)) return 'unreadable_cost'
  const landed = (minor: number) => Math.ceil(minor + fee + (minor * feePct) / 100 - rounding)
  const [min, max] = cost.type === 'FIXED' ? [cost.fixed, cost.fixed] : [cost.min, cost.max]
  return { currency: cost.currency, divisor: cost.divisor, min: landed(min), max: landed(max) }
}

/** So that a floating-point sum such as 110.00000000000001 is not rounded up to 111. */
const rounding = 1e-6

function isFee(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxMinorUnits
}

function faceValueOf(raw: Raw): MoneyRange | undefined {
  const money = moneyOf(raw['send'], raw['priceType'])
  return typeof money === 'string' ? undefined : money
}

function moneyOf(value: unknown, priceType: unknown): MoneyRange | RejectionReason {
  const side = recordOf(value)
  if (side === undefined) return 'no_price'
  const { currency, currencyDivisor: divisor } = side
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return 'bad_currency'
  if (!isDivisor(divisor)) return 'bad_divisor'
  if (priceType === 'FIXED') return fixedMoney(side, currency, divisor)
  if (priceType === 'RANGE') return openMoney(side, currency, divisor)
  return 'unknown_price_type'
}

function fixedMoney(side: Raw, currency: string, divisor: number): MoneyRange | RejectionReason {
  const fixed = side['fixed']
  if (fixed === undefined || fixed === null) return 'no_price'
  const reason = amountRejection(fixed)
  return reason ?? { type: 'FIXED', currency, divisor, fixed: fixed as number }
}

function openMoney(side: Raw, currency: string, divisor: number): MoneyRange | RejectionReason {
  // The increment is optional, and without one every minor unit is a step.
  const amounts = [side['min'], side['max'], side['increment'] || 1]
  const [min, max, increment] = amounts as [number, number, number]
  if (amounts.some((amount) => amountRejection(amount) !== undefined) || min > max) {
    return 'bad_range'
  }
  return { type: 'RANGE', currency, divisor, min, max, increment }
}

/** A plain number is in major units of the cost's currency, which is the wallet's, or in US dollars. */
function plainPrice(major: number, cost: Raw | undefined): MoneyRange | RejectionReason {
  const currency = cost?.['currency'] ?? 'USD'
  const currencyDivisor = cost?.['currencyDivisor'] ?? 100
  const scaled = isDivisor(currencyDivisor) ? major * currencyDivisor : major
  const nearest = Math.round(scaled)
  const fixed = Math.abs(scaled - nearest) < 1e-6 ? nearest : scaled
  return moneyOf({ currency, currencyDivisor, fixed }, 'FIXED')
}

function amountRejection(amount: unknown): RejectionReason | undefined {
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return 'price_not_whole'
  if (amount <= 0) return 'price_not_positive'
  if (amount > maxMinorUnits) return 'price_too_high'
  return Number.isInteger(amount) ? undefined : 'price_not_whole'
}

function isDivisor(value: unknown): value is number {
  return (
    typeof value === 'number' && [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].includes(value)
  )
}

import codes from 'i18n-iso-countries/index.js'
import type { Coverage } from '../../catalog/kinds/esim.ts'
import { regions, voucherSubTypes } from '../../catalog/lists.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { Allowance, OfferBase } from '../../catalog/offer-base.ts'
import type { OfferId } from '../../lib/ids.ts'
import { costOf, faceValueOf, priceOf } from './parse-money.ts'
import {
  lineOf,
  linesOf,
  listOf,
  positiveOf,
  present,
  type Raw,
  recordOf,
  textOf,
  wholePositiveOf,
} from './raw.ts'
import type { RejectionReason } from './rejection-reason.ts'

/** The form of an offer id. It is also part of the URL of its page, where `.` and `..` would be path steps. */
const offerIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

const productTypes: Readonly<Record<Kind, string>> = {
  voucher: 'VOUCHER',
  topup: 'TOPUP',
  esim: 'ESIM',
}

/** Zendit's names of topup sub-types, and the names that the store publishes for them. */
const topupSubTypeNames: ReadonlyMap<string, string> = new Map([
  ['mobile top up', 'voice'],
  ['mobile bundle', 'bundle'],
  ['mobile data', 'data'],
])

const publishedNames: ReadonlyMap<string, string> = new Map(
  [...regions, ...voucherSubTypes].map((name) => [name.toLowerCase(), name]),
)

/**
 * Reads one record of the supplier's list as an offer, or says why it must not be sold. In the record zero,
 * false, blank and null mean "does not apply"; in the offer such a field is absent.
 */
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
  const country = countryOf(raw)
  if (country === 'unknown_country') return country
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
  if (coverage.length === 0) return 'no_coverage'
  return { ...base, kind: 'esim', allowance: allowanceOf(raw), coverage }
}

function countryOf(raw: Raw): string | undefined | 'unknown_country' {
  const code = lineOf(raw['country'], 10)
  return code === undefined ? undefined : (alpha2Of(code) ?? 'unknown_country')
}

function subTypesOf(raw: Raw, kind: Kind): string[] {
  const names = linesOf(raw['subTypes'], { items: 20, length: 60 })
  if (kind !== 'topup') return names.map(publishedNameOf)
  // The published list of topup sub-types is closed; an unknown one is left out.
  const known = names.map((name) => topupSubTypeNames.get(name.toLowerCase()))
  return known.filter((name) => name !== undefined)
}

/** The published list of voucher sub-types is closed, and every voucher has at least one of them. */
function voucherSubTypesOf(names: readonly string[]): string[] {
  const published = names.map((name) => {
    if (isVoucherSubType(name)) return name
    return name.toLowerCase() === 'online shopping' ? 'Shopping' : 'General Merchandise'
  })
  return published.length === 0 ? ['General Merchandise'] : [...new Set(published)]
}

function isVoucherSubType(name: string): boolean {
  return voucherSubTypes.some((published) => published === name)
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

/** The countries a plan works in. A country with an unknown code is left out, so the offer promises less. */
function coverageOf(own: string | undefined, raw: Raw): Coverage[] {
  const speeds = new Map<string, Set<string>>()
  const add = (country: string | undefined, dataSpeeds: unknown) => {
    if (country === undefined) return
    const known = speeds.get(country) ?? new Set()
    for (const speed of speedsOf(dataSpeeds)) known.add(speed)
    speeds.set(country, known)
  }
  add(own, raw['dataSpeeds'])
  for (const item of listOf(raw['roaming']).slice(0, 300)) {
    const roaming = recordOf(item)
    add(alpha2Of(lineOf(roaming?.['country'], 10) ?? ''), roaming?.['dataSpeeds'])
  }
  return [...speeds].map(([country, set]) => ({ country, speeds: [...set] }))
}

function speedsOf(value: unknown): string[] {
  const speeds = linesOf(value, { items: 10, length: 10 }).map((speed) => speed.toUpperCase())
  return speeds.filter((speed) => /^\dG$/.test(speed))
}

const alpha2ByAlpha3: ReadonlyMap<string, string> = new Map(Object.entries(codes.getAlpha3Codes()))
const alpha2Codes: ReadonlySet<string> = new Set(alpha2ByAlpha3.values())

/** Codes that stand for a country although ISO 3166-1 does not assign them. */
const others: Readonly<Record<string, string>> = { XKX: 'XK', UK: 'GB', EL: 'GR' }

/** ISO 3166-1 alpha-2 of a code in either form and any case, or undefined for anything else. */
function alpha2Of(code: string): string | undefined {
  const upper = others[code.toUpperCase()] ?? code.toUpperCase()
  return alpha2Codes.has(upper) ? upper : alpha2ByAlpha3.get(upper)
}

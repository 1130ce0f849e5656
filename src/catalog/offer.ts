import type { OfferId } from '../lib/ids.ts'
import type { goods } from './kinds.ts'

export type Kind = keyof typeof goods

/** Something the store sells, as its supplier lists it. Prices for buyers come from `pricing.ts`. */
export type Offer = Parameters<(typeof goods)[Kind]['requiredFields']>[0]

/** The list that an offer is on: the offers of one kind at one supplier. */
export type ListName = string

export function listName(supplier: string, kind: Kind): ListName {
  return `${supplier}/${kind}`
}

/** The supplier whose list it is. */
export function supplierOf(list: ListName): string {
  return list.slice(0, list.indexOf('/'))
}

export function listOf({ source, kind }: Pick<Offer, 'source' | 'kind'>): ListName {
  return listName(source.supplier, kind)
}

/** The supplier of all records from before records named one. */
export const firstSupplier = 'zendit'

/** Where an offer is bought, and what it is called there. */
export interface Source {
  readonly supplier: string
  readonly product: string
}

/** What every offer has, whatever its kind. A field that does not apply is absent. */
export interface OfferBase {
  readonly id: OfferId
  readonly source: Source
  /** The supplier's key of the brand, operator or provider: "APPLE". */
  readonly brand: string
  /** The name that people know: "Apple". */
  readonly brandName: string
  /** ISO 3166-1 alpha-2. Absent on multi-country eSIM plans. */
  readonly country?: string
  /** Where it can be used, in the supplier's region names. */
  readonly regions: readonly string[]
  /** Published sub-types only; a voucher has at least one. */
  readonly subTypes: readonly string[]
  readonly productType: string
  readonly shortNotes?: string
  readonly notes?: string
  /** The selling price that the supplier suggests. */
  readonly price: MoneyRange
  /** What the supplier charges the store. Nothing is sold below it. */
  readonly cost: LandedCost
  /** What the card or the line receives, in its own currency. */
  readonly faceValue?: MoneyRange
}

/**
 * Money in minor units of a currency: major = amount / `divisor`. 2500 with divisor 100 is 25.00;
 * JPY has divisor 1 and KWD 1000. The divisor is always the one sent with the amount.
 */
export type MoneyRange = FixedMoney | OpenMoney

export interface FixedMoney {
  readonly type: 'FIXED'
  readonly currency: string
  readonly divisor: number
  readonly fixed: number
}

export interface OpenMoney {
  readonly type: 'RANGE'
  readonly currency: string
  readonly divisor: number
  readonly min: number
  readonly max: number
  /** A value must be `min` plus a whole number of these. At least 1. */
  readonly increment: number
}

/** What the supplier charges for one purchase, in minor units. */
export interface Charge {
  readonly currency: string
  readonly divisor: number
  readonly amount: number
}

/**
 * What the supplier charges, with its fees, at the lowest and the highest value of the price, in minor units. For
 * a fixed price both are the same.
 */
export interface LandedCost {
  readonly currency: string
  readonly divisor: number
  readonly min: number
  readonly max: number
}

/** What a line gets: shared by topups and eSIM plans. */
export interface Allowance {
  readonly dataGb?: number
  readonly dataUnlimited?: boolean
  readonly durationDays?: number
  readonly voiceMinutes?: number
  readonly voiceUnlimited?: boolean
  readonly smsNumber?: number
  readonly smsUnlimited?: boolean
}

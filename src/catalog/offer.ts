import * as z from 'zod'
import type { OfferId } from '../lib/ids.ts'
import type { Worth } from './face-value.ts'
import type { Coverage } from './kinds/esim.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { goods } from './kinds.ts'

export type Kind = keyof typeof goods

/** As its supplier lists it. Prices for buyers come from `pricing.ts`. */
export type Offer = Parameters<(typeof goods)[Kind]['requiredFields']>[0]

/** The list that an offer is on: the offers of one kind at one supplier. */
export type ListName = string

export function listName(supplier: string, kind: Kind): ListName {
  return `${supplier}/${kind}`
}

export function supplierOf(list: ListName): string {
  return list.slice(0, list.indexOf('/'))
}

export function listOf({ source, kind }: Pick<Offer, 'source' | 'kind'>): ListName {
  return listName(source.supplier, kind)
}

/** The supplier that a lost order is put down to if none knows it. */
export const firstSupplier = 'zendit'

export interface Source {
  readonly supplier: string
  readonly product: string
}

export interface OfferBase {
  readonly id: OfferId
  readonly source: Source
  /** The supplier's key of the brand, operator or provider: "APPLE". */
  readonly brand: string
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
  /** What a buyer pays besides any value. */
  readonly fee?: number
}

/** What one purchase costs the store, in minor units. */
export interface Charge {
  readonly currency: string
  readonly divisor: number
  readonly amount: number
  /** Units of the currency for one US dollar, when it was bought. Absent for US dollars, and in a supplier's answer. */
  readonly perUsd?: number
}

/** The same, with fees, at the lowest and the highest value of the price: equal for a fixed one. */
export interface LandedCost {
  readonly currency: string
  readonly divisor: number
  readonly min: number
  readonly max: number
}

export interface Allowance {
  readonly dataGb?: number
  readonly dataUnlimited?: boolean
  readonly durationDays?: number
  readonly voiceMinutes?: number
  readonly voiceUnlimited?: boolean
  readonly smsNumber?: number
  readonly smsUnlimited?: boolean
}

export const kinds = Object.keys(goods) as readonly Kind[]

export function kindOf({ kind }: { readonly kind: Kind }): KindDefinition {
  return goods[kind]
}

export function byKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<Kind, T>
}

export function byPlural<T>(make: (kind: Kind) => T): Record<string, T> {
  return Object.fromEntries(kinds.map((kind) => [goods[kind].plural, make(kind)]))
}

export type Recipient = {
  readonly [K in Kind]: { readonly kind: K } & ReturnType<(typeof goods)[K]['recipientOf']>
}[Kind]

type AnyDelivery = (typeof goods)[Kind]['delivery']

/** What the buyer receives. Secret until it is shown to its buyer. */
export const Delivery = z.discriminatedUnion(
  'kind',
  Object.values(goods).map(({ delivery }) => delivery) as [AnyDelivery, ...AnyDelivery[]],
)
export type Delivery = z.infer<typeof Delivery>

/**
 * What an offer tells its buyer besides its brand. It is stored with the order, because a supplier may change
 * what it lists under the same id.
 */
export interface OfferDetails {
  readonly subTypes: readonly string[]
  readonly price: MoneyRange
  readonly faceValue?: MoneyRange
  readonly allowance?: Allowance
  readonly coverage?: readonly Pick<Coverage, 'country'>[]
  /** The supplier's sentence that says when a plan becomes slow. */
  readonly fairUse?: string
}

export interface DescribedOffer
  extends Omit<OfferDetails, 'fairUse'>,
    Pick<Offer, 'kind' | 'country'> {}

export function worthOf(offer: Pick<DescribedOffer, 'kind' | 'price' | 'faceValue'>): Worth {
  return { price: offer.price, faceValue: kindOf(offer).faceValueOf(offer) }
}

export function detailsOf(offer: Offer): OfferDetails {
  const { subTypes, price, faceValue } = offer
  const fairUse = kindOf(offer).fairUseOf?.(offer)
  return {
    subTypes,
    price,
    ...(faceValue === undefined ? {} : { faceValue }),
    ...('allowance' in offer ? { allowance: offer.allowance } : {}),
    ...('coverage' in offer
      ? { coverage: offer.coverage.map(({ country }) => ({ country })) }
      : {}),
    ...(fairUse === undefined ? {} : { fairUse }),
  }
}

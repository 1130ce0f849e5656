import * as z from 'zod'
import type { Fault } from '../../lib/refusal.ts'
import type { Allowance, MoneyRange, OfferBase } from '../offer.ts'
import type { OfferSearch } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'

/** All that is specific to one kind of goods. The rest of the store names no kind, except for suppliers and pages. */
export interface KindDefinition<O extends OfferBase = OfferBase> {
  readonly kind: string
  readonly plural: string
  readonly words: KindWords

  /** The fields of a purchase besides the offer and the value. */
  readonly recipient: z.ZodObject
  readonly fields: Readonly<Record<string, FieldHelp>>
  readonly receiver: string
  /** Another field that may name who receives the goods. */
  readonly secondReceiver?: string
  /** The receiver in the spelling of `recipientOf`, or undefined if no purchase takes it. Without this, as it is. */
  receiverIn?(text: string): string | undefined
  requiredFields(offer: O): readonly string[]
  /** The fields that only offers which require them take. They are in no schema but that of such an offer. */
  readonly rareFields?: ReadonlySet<string>
  /** What the supplier requires and no field of a purchase can fill. */
  unfillableFields?(offer: O): readonly string[]
  faultsIn?(offer: O, fields: Readonly<Record<string, unknown>>, now: Date): readonly Fault[]
  /** @throws Refusal `invalid_body` */
  recipientOf(offer: O, fields: object): object
  readonly takesValue: boolean
  /** Whether the supplier hands them over itself, so that the buyer gets nothing to redeem or to install. */
  readonly isCredited: boolean
  /** Whether suppliers refuse whoever received goods moments ago, so that the store asks before it takes money. */
  readonly isRefusedSoonAfter?: boolean

  /** The schema of the goods. Fields that the supplier did not give are absent. */
  readonly delivery: z.ZodObject
  /** The goods as they are shown to their buyer. `recipient` gives undefined once the recipient was erased. */
  resultOf(delivery: Goods, recipient: () => object | undefined): Goods
  faceValueOf(offer: Pick<O, 'faceValue' | 'price'>): MoneyRange | undefined
  /** What is bought, as the buyer reads it before paying: "a 25.00 USD Amazon card (US)". */
  inWords(words: OfferWords, recipient: object): string
  /** Who gets it, where those words do not say so: "Ada Lovelace". */
  givenTo?(recipient: object): string
  fairUseOf?(offer: O): string | undefined

  indexed(offer: O): Indexed
  /** Whether offers of this kind are searched by every country that they cover, not only by their own. */
  readonly isByCoverage: boolean
  readonly subTypes: readonly string[]
  readonly lists: readonly KindList[]
  /** The search of the discovery interface, over the sold offers. */
  readonly search: OfferSearch
  /** The search of the catalog interface, over all listed offers. */
  readonly browse: OfferSearch
  capabilitiesIn(sold: SearchIndex): object

  readonly published: Published
  /** The value of a published field that is neither the offer's own nor its allowance's. */
  publishedValue?(offer: O, field: string): unknown

  /** For the books of a store in the European Union (Directive 2006/112/EC, articles 30a, 30b and 58). */
  readonly vat: Vat

  readonly refund: 'none' | 'automatic'
  readonly refundRule: string
  readonly refundNote?: string
}

interface Vat {
  /** A voucher of many kinds of goods bears no tax when it is sold; it does when it is redeemed. */
  readonly treatment: 'multi_purpose_voucher' | 'telecom_service'
  /** Where it is supplied: where it is redeemed, in the country of the line, or where the customer lives. */
  readonly place: 'redemption' | 'line' | 'customer'
}

interface KindWords {
  readonly noun: string
  readonly many: string
  readonly article: 'a' | 'an'
  readonly about: string
  readonly found: string
  /** Words for the kind in questions, in any language, separated by commas. */
  readonly asked: string
  readonly purchase: string
  readonly buys: string
  /** In Markdown. */
  readonly asks: string
  readonly search: string
  readonly searchAnswer: string
  readonly browse: string
  /** Why a wallet's limits do not allow the recipient: another one is named, or none. */
  readonly otherReceiver: string
  readonly noReceiver: string
  /** Tags for an index of paid resources: at most five, of at most 32 characters. */
  readonly tags: readonly string[]
}

/** The delivered goods without pictures: the content of the QR code is `lpa`. */
export type Goods = Readonly<Record<string, unknown>> & {
  readonly lpa?: string | undefined
  readonly credited?: Credited | undefined
}

/** Each includes its spaces and punctuation, or is empty. */
interface OfferWords {
  /** "25.00 USD ", if the supplier gives exactly that. */
  readonly face: string
  /** " worth about 765.00 AUD", if the supplier converts the chosen value. */
  readonly worth: string
  readonly brandName: string
  readonly place: string
  readonly notes: string
}

export interface FieldHelp {
  /** The form of its values, as it follows the name of the field: "must be an e-mail address". */
  readonly form: string
  readonly otherNames?: readonly string[]
  readonly meantBy?: (text: string, country?: string) => string | undefined
  /** Reads a text that can mean only one thing. Without this, only the spaces around a text are dropped. */
  readonly understood?: (text: string) => unknown
  /** The common spelling of texts that mean the same, for comparing purchases. Without this, letters are compared. */
  readonly alike?: (text: string) => string
  readonly example: (offer: OfferBase) => string | boolean
}

interface Indexed {
  readonly texts?: readonly string[]
  readonly categories?: readonly string[]
  readonly covers?: readonly string[]
  readonly durationDays?: number | undefined
  /** Infinity if unlimited; undefined if unknown. */
  readonly dataGb?: number | undefined
  readonly isMultiCountry?: boolean
}

export type KindList = 'brands' | 'countries' | 'filters' | 'regions'

interface Published {
  readonly name: string
  /** In every interface, in the catalog interface too, and in the full record alone. */
  readonly discovery: z.ZodRawShape
  readonly catalog: z.ZodRawShape
  readonly detail: z.ZodRawShape
  readonly goods: z.ZodRawShape
  readonly capabilities: z.ZodRawShape
}

/** The two joiners (U+200C, U+200D) are letters of names in Persian and in scripts of India. */
export function lineOf(max: number) {
  const pattern = /^(?=.*[^\s\u200c\u200d])(?:[^\p{C}]|[\u200c\u200d])+$/u
  return z.string().trim().min(1).max(max).regex(pattern)
}

export function lineForm(max: number): string {
  return `must be text of 1 to ${max} characters without control characters`
}

export const personName = lineOf(80)

/** Text that says true or false as that value; any other text stays. */
export function flagIn(text: string): unknown {
  const bare = text.trim()
  return /^(true|false)$/i.test(bare) ? /^true$/i.test(bare) : bare
}

/** Its length is limited because it is stored. */
export const plainText = z.string().max(20_000)

/** Major = `amount` / `currencyDivisor`. */
export const credited = z.object({
  amount: z.number(),
  currency: z.string(),
  currencyDivisor: z.number(),
})

type Credited = z.infer<typeof credited>

export const countryCode = z.string().describe('ISO 3166-1 alpha-2 country code')

export const names = z.array(z.string())

export const dataAllowance = {
  dataGb: z.number().optional(),
  dataUnlimited: z.boolean().optional(),
  durationDays: z.int().optional(),
}

export const lineAllowance = {
  ...dataAllowance,
  voiceMinutes: z.int().optional(),
  smsNumber: z.int().optional(),
}

export const wholeAllowance = {
  brandName: z.string(),
  ...lineAllowance,
  voiceUnlimited: z.boolean().optional(),
  smsUnlimited: z.boolean().optional(),
}

export function gigabytesOf({ dataGb, dataUnlimited }: Allowance): number | undefined {
  return dataUnlimited ? Number.POSITIVE_INFINITY : dataGb
}

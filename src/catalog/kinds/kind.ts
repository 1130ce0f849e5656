import * as z from 'zod'
import type { Fault } from '../../lib/refusal.ts'
import type { Allowance, MoneyRange, OfferBase } from '../offer.ts'
import type { OfferSearch } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'

/**
 * All that is specific to one kind of goods. The rest of the store asks it and names no kind, except for the
 * adapters of suppliers and the texts of the pages.
 */
export interface KindDefinition<O extends OfferBase = OfferBase> {
  readonly kind: string
  /** In paths and in the names of lists: "vouchers". */
  readonly plural: string
  readonly words: KindWords

  /** The fields of a purchase besides the offer and the value. */
  readonly recipient: z.ZodObject
  readonly fields: Readonly<Record<string, FieldHelp>>
  /** The field that names the recipient, for the spending limits of wallets. */
  readonly receiver: string
  /** The receiver in the spelling of `recipientOf`, or undefined if no purchase takes it. Without this, as it is. */
  receiverIn?(text: string): string | undefined
  /** The fields of `recipient` that this offer needs. */
  requiredFields(offer: O): readonly string[]
  /** What the supplier requires and no field of a purchase can fill. */
  unfillableFields?(offer: O): readonly string[]
  /** Faults that only show against the offer. */
  faultsIn?(offer: O, fields: Readonly<Record<string, unknown>>): readonly Fault[]
  /** The recipient, as it is passed on to the supplier. @throws Refusal `invalid_body` */
  recipientOf(offer: O, told: object): object
  /** Whether the supplier takes a value that the buyer chose. */
  readonly takesValue: boolean

  /** The schema of the goods. Fields that the supplier did not give are absent. */
  readonly delivery: z.ZodObject
  /** The goods as they are shown to their buyer. `recipient` gives undefined once the recipient was erased. */
  resultOf(delivery: Goods, recipient: () => object | undefined): Goods
  /** What the card or the line receives, in its own currency. */
  faceValueOf(offer: Pick<O, 'faceValue' | 'price'>): MoneyRange | undefined
  /** What is bought, as the buyer reads it before paying: "a 25.00 USD Amazon card (US)". */
  inWords(words: OfferWords, recipient: object): string
  /** The supplier's sentence that says when a plan becomes slow. */
  fairUseOf?(offer: O): string | undefined

  /** What the index finds an offer by, besides the fields that every offer has. */
  indexed(offer: O): Indexed
  /** Whether offers of this kind are searched by every country that they cover, not only by their own. */
  readonly isByCoverage: boolean
  /** The sub-types that callers may filter by, even while no offer has them. */
  readonly subTypes: readonly string[]
  readonly lists: readonly KindList[]
  /** The search of the discovery interface, over the sold offers. */
  readonly search: OfferSearch
  /** The search of the catalog interface, over all listed offers. */
  readonly browse: OfferSearch
  /** The fields of the kind in `/ai/capabilities`, without the URL of its search. */
  capabilitiesIn(sold: SearchIndex): object

  readonly published: Published
  /** The value of a published field that is neither the offer's own nor its allowance's. */
  publishedValue?(offer: O, field: string): unknown

  /** The type of refund in the manifest. */
  readonly refund: 'none' | 'automatic'
  readonly refundRule: string
  /** The note beside the type of refund in the manifest. */
  readonly refundNote?: string
}

/** The texts about a kind for programs and models. */
interface KindWords {
  /** The noun for one, and for several. */
  readonly noun: string
  readonly many: string
  readonly article: 'a' | 'an'
  /** What the kind is, in a sentence, and what a search for it finds. */
  readonly about: string
  readonly found: string
  /** Words for the kind in questions, in any language, separated by commas. */
  readonly asked: string
  /** The operation that buys one: its name, and what it does. */
  readonly purchase: string
  readonly buys: string
  /** The fields that a purchase needs besides the offer and the value, in Markdown. */
  readonly asks: string
  /** Descriptions of the search, its answer, and the list in the catalog interface. */
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

/** The parts of the name of what is bought. Each includes its spaces and punctuation, or is empty. */
interface OfferWords {
  /** "25.00 USD ", if the supplier gives exactly that. */
  readonly face: string
  /** " worth about 765.00 AUD", if the supplier converts the chosen value. */
  readonly worth: string
  readonly brandName: string
  readonly place: string
  readonly notes: string
}

/** How a field is read, and what callers are told about it when its value is wrong. */
interface FieldHelp {
  /** The form of its values, as it follows the name of the field: "must be an e-mail address". */
  readonly form: string
  /** Other names that people and models use for it. */
  readonly otherNames?: readonly string[]
  /** The value that was probably meant by an invalid one. */
  readonly meantBy?: (text: string, country?: string) => string | undefined
  /** Reads a text that can mean only one thing. Without this, only the spaces around a text are dropped. */
  readonly understood?: (text: string) => unknown
  /** The common spelling of texts that mean the same, for comparing purchases. Without this, letters are compared. */
  readonly alike?: (text: string) => string
  /** A made-up value that passes the store's own checks. */
  readonly example: (offer: OfferBase) => string | boolean
}

interface Indexed {
  /** Further texts that are searched. */
  readonly texts: readonly string[]
  readonly categories: readonly string[]
  /** Further countries in which it can be used. */
  readonly covers: readonly string[]
  readonly durationDays: number | undefined
  /** Infinity if unlimited; undefined if unknown. */
  readonly dataGb: number | undefined
  readonly isMultiCountry: boolean
}

/** A list of the values that occur in a kind, in the catalog interface. */
export type KindList = 'brands' | 'countries' | 'filters' | 'regions'

/** The published shapes of the fields that are specific to a kind. */
interface Published {
  /** The name of the discovery form of an offer. */
  readonly name: string
  /** Of its fields in every interface, in the catalog interface too, and in the full record alone. */
  readonly discovery: z.ZodRawShape
  readonly catalog: z.ZodRawShape
  readonly detail: z.ZodRawShape
  /** The fields of the shown goods besides those that were delivered. */
  readonly goods: z.ZodRawShape
  readonly capabilities: z.ZodRawShape
}

/**
 * A person's name as a form takes it: no control characters, not blank, at most 80 characters. The two
 * joiners (U+200C, U+200D) are letters of names in Persian and in scripts of India.
 */
export const personName = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .regex(/^(?=.*[^\s\u200c\u200d])(?:[^\p{C}]|[\u200c\u200d])+$/u)

/** Text that a supplier sent. Its length is limited because it is stored. */
export const plainText = z.string().max(20_000)

/** What a supplier says that a card or a line received: major = `amount` / `currencyDivisor`. */
export const credited = z.object({
  amount: z.number(),
  currency: z.string(),
  currencyDivisor: z.number(),
})

type Credited = z.infer<typeof credited>

/** Published fields that several kinds have. */
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

/** The fields that the catalog interface publishes of every line or plan. */
export const wholeAllowance = {
  brandName: z.string(),
  ...lineAllowance,
  voiceUnlimited: z.boolean().optional(),
  smsUnlimited: z.boolean().optional(),
}

/** The data of a line or a plan as one number; Infinity if it is unlimited. */
export function gigabytesOf({ dataGb, dataUnlimited }: Allowance): number | undefined {
  return dataUnlimited ? Number.POSITIVE_INFINITY : dataGb
}

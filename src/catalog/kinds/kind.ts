import type * as z from 'zod'
import type { Fault } from '../../lib/fault.ts'
import type { MoneyRange, OfferBase } from '../offer-base.ts'
import type { OfferSearch } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { Credited } from './fields.ts'

/**
 * All that is special about one kind of good. The rest of the store asks it and names no kind, but for
 * the adapters of suppliers and the words of the pages.
 */
export interface KindDefinition<O extends OfferBase = OfferBase> {
  readonly kind: string
  /** In paths and in the names of lists: "vouchers". */
  readonly plural: string
  readonly words: KindWords

  /** What the buyer tells besides the offer and the value. */
  readonly recipient: z.ZodObject
  readonly fields: Readonly<Record<string, FieldHelp>>
  /** The field that says whom it goes to, as wallets limit it. */
  readonly receiver: string
  /** The fields of `recipient` that this offer needs. */
  requiredFields(offer: O): readonly string[]
  /** What the supplier needs to be told and no field can say. */
  unfillableFields?(offer: O): readonly string[]
  /** Faults that only the offer can tell. */
  faultsIn?(offer: O, fields: Readonly<Record<string, unknown>>): readonly Fault[]
  /** Who receives it, as it is passed on. @throws Refusal `invalid_body` */
  recipientOf(offer: O, told: object): object
  /** Whether the supplier takes a value that the buyer chose. */
  readonly takesValue: boolean

  /** What the buyer receives. It has those fields that the supplier gives. */
  readonly delivery: z.ZodObject
  /** The goods as they are shown to their buyer; who received them is known until it is erased. */
  resultOf(delivery: Goods, recipient: () => object | undefined): Goods
  /** What the card or the line receives, in its own currency. */
  faceValueOf(offer: Pick<O, 'faceValue' | 'price'>): MoneyRange | undefined
  /** One that is bought, as its buyer is told before paying: "a 25.00 USD Amazon card (US)". */
  inWords(words: OfferWords, recipient: object): string
  /** The supplier's sentence that says when it becomes slow. */
  fairUseOf?(offer: O): string | undefined

  /** What the index finds an offer by, besides what every offer has. */
  indexed(offer: O): Indexed
  /** Offers of this kind are looked for by every country that they cover, not by their own alone. */
  readonly isByCoverage: boolean
  /** Sub-types that may be asked for even while no offer has them. */
  readonly subTypes: readonly string[]
  readonly lists: readonly KindList[]
  /** The search of the discovery interface, over what is sold. */
  readonly search: OfferSearch
  /** The search of the catalog interface, over what is listed. */
  readonly browse: OfferSearch
  /** What `/ai/capabilities` says of it, without the address of its search. */
  capabilitiesIn(sold: SearchIndex): object

  readonly published: Published
  /** The fields of an offer that the discovery interface shows of this kind. */
  discoveryFields(offer: O): object
  /** Those that the catalog interface has besides. */
  catalogFields(offer: O): object
  /** Those that only the full record has. */
  detailFields(offer: O): object

  /** Whether delivered goods are ever paid back. */
  readonly refund: 'none' | 'automatic'
  readonly refundRule: string
  /** What the manifest says of it beside the type of refund. */
  readonly refundNote?: string
}

/** How programs and their models read of a kind. */
interface KindWords {
  /** What people call one, and several. */
  readonly noun: string
  readonly many: string
  readonly article: 'a' | 'an'
  /** What it is, in a sentence, and what a search finds. */
  readonly about: string
  readonly found: string
  /** What people write for it in questions, in any language, with commas between. */
  readonly asked: string
  /** The call that buys one: its name, and what it does. */
  readonly purchase: string
  readonly buys: string
  /** What a purchase says besides the offer and the value, in Markdown. */
  readonly asks: string
  /** What a search and a list of it say that they do. */
  readonly search: string
  readonly searchAnswer: string
  readonly browse: string
  /** Why a purchase is beyond the recipients that a wallet allows, by whether it names one. */
  readonly otherReceiver: string
  readonly noReceiver: string
  /** For an index of paid resources: at most five, of 32 letters each. */
  readonly tags: readonly string[]
}

/** What was delivered, in words: what pictures show as well stands in `lpa`. */
export type Goods = Readonly<Record<string, unknown>> & {
  readonly lpa?: string | undefined
  readonly credited?: Credited | undefined
}

/** The parts of the name of what is bought. Each stands with the signs around it, or is empty. */
interface OfferWords {
  /** "25.00 USD ", where the supplier gives just that. */
  readonly face: string
  /** " worth about 765.00 AUD", where it converts what was chosen. */
  readonly worth: string
  readonly brandName: string
  readonly place: string
  readonly notes: string
}

/** What callers are told of a field when what they sent is no such thing. */
interface FieldHelp {
  /** How it is written, behind its name: "must be an e-mail address". */
  readonly form: string
  /** What people and models call it. */
  readonly otherNames?: readonly string[]
  /** What was probably meant by something that is none. */
  readonly meantBy?: (text: string, country?: string) => string | undefined
  /** A text as what it can only mean. Without this, the spaces around a text are dropped. */
  readonly understood?: (text: string) => unknown
  /** The one spelling of all texts that mean the same, by which purchases are told apart. Without this, letters are. */
  readonly alike?: (text: string) => string
  /** A value that passes the store's own checks, and is nobody's. */
  readonly example: (offer: OfferBase) => string | boolean
}

interface Indexed {
  /** Further texts that a search looks in. */
  readonly texts: readonly string[]
  readonly categories: readonly string[]
  /** Further countries in which it can be used. */
  readonly covers: readonly string[]
  readonly durationDays: number | undefined
  /** Infinite where it has no end; undefined where it is not known. */
  readonly dataGb: number | undefined
  readonly isMultiCountry: boolean
}

/** A list of what there is of a kind, in the catalog interface. */
export type KindList = 'brands' | 'countries' | 'filters' | 'regions'

/** The published shapes of what is special about a kind. */
interface Published {
  /** The name of the discovery form of an offer. */
  readonly name: string
  readonly discovery: z.ZodRawShape
  readonly catalog: z.ZodRawShape
  readonly detail: z.ZodRawShape
  /** What the goods have besides what was delivered. */
  readonly goods: z.ZodRawShape
  readonly capabilities: z.ZodRawShape
}

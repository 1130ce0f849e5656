import * as z from 'zod'
import type { Fault } from '../../lib/refusal.ts'
import { voucherSubTypes } from '../lists.ts'
import type { OfferBase } from '../offer.ts'
import { defineSearch } from '../search/offer-search.ts'
import {
  country,
  described,
  dollars,
  invalidParameter,
  oneOf,
  searchName,
  searchText,
} from '../search/params.ts'
import type { SearchIndex } from '../search/search-index.ts'
import {
  countryCode,
  credited,
  type KindDefinition,
  lineForm,
  names,
  personName,
  plainText,
} from './kind.ts'
import {
  askedFaults,
  askedHelp,
  askedShape,
  countryHelp,
  countryText,
  fieldOfKey,
} from './voucher-fields.ts'

export interface VoucherOffer extends OfferBase {
  readonly kind: 'voucher'
  /** The supplier's own categories, if they differ from the published sub-types: "Fuel". */
  readonly categories?: readonly string[]
  readonly description?: string
  readonly image?: string
  readonly redemptionInstructions?: string
  /** The supplier's keys of the fields that the buyer must fill: "recipient.email". */
  readonly requiredFields: readonly string[]
}

function categoriesOf({ categories, subTypes }: VoucherOffer): readonly string[] {
  return categories ?? subTypes
}

const recipient = z.strictObject({
  firstName: personName.describe('Recipient first name'),
  lastName: personName.describe('Recipient last name'),
  email: z.email().max(254).optional().describe('Recipient e-mail, required for some brands'),
  country: countryText
    .optional()
    .describe('Recipient country, ISO 3166-1 alpha-2, required for some brands'),
  ...askedShape,
})

/** Spaces around a name are kept here, because the fingerprints of earlier purchases include them. */
const understood = (text: string) => text
const alike = (text: string) => text.trim()

const name = lineForm(80)

const brand = described(searchName, 'Brand: its name, or the beginning of the words of its name')

const search = defineSearch({
  plural: 'vouchers',
  maxLimit: 50,
  query: {
    country,
    subType: described(oneOf(voucherSubTypes), 'What kind of brand'),
    search: described(searchText, 'Free text over brand, description, notes, sub-types and places'),
    brand,
  },
  filtersOf: ({ search, ...filters }) => ({ ...filters, text: search }),
})

const browse = defineSearch({
  plural: 'vouchers',
  maxLimit: 100,
  query: {
    minValue: described(dollars, 'Least face value, in USD'),
    maxValue: described(dollars, 'Greatest face value, in USD'),
    country,
    category: described(
      { ...searchName, near: 'category' },
      'What the supplier files it under; /vouchers/filters lists them',
    ),
    brand,
  },
  filtersOf: ({ brand, country, category, minValue, maxValue }) => ({
    brand,
    country,
    category,
    minUsd: minValue,
    maxUsd: maxValue,
  }),
  checked({ category, ...params }, index) {
    const { minValue, maxValue } = params
    const checkedCategory =
      category === undefined
        ? {}
        : { category: oneOf(index.values('category')).parse('category', category) }
    if (minValue !== undefined && maxValue !== undefined && minValue > maxValue) {
      throw invalidParameter('minValue', 'minValue must not be more than maxValue.')
    }
    return { ...params, ...checkedCategory }
  },
})

export const voucher = {
  kind: 'voucher',
  plural: 'vouchers',
  words: {
    noun: 'voucher',
    many: 'vouchers',
    article: 'a',
    about: 'Gift vouchers of brands: a code to redeem.',
    found: 'gift vouchers',
    asked:
      'gift card, gift cards, giftcard, giftcards, gift, voucher, vouchers, e gift, egift, e gift card, gift code, card, cards, gift certificate, prepaid card, code, coupon, store credit, store card, gutschein, gutscheine, geschenkkarte, guthabenkarte, tarjeta de regalo, tarjeta regalo, tarjetas regalo, carte, cartes, tarjetas de regalo, tarjetas, tarjeta, carte cadeau, bon d achat, cheque cadeau, carta regalo, buono, buono regalo, cartao presente, vale presente, cadeaubon, cadeaukaart, karta podarunkowa, ギフトカード, ギフト券, 기프트카드, 礼品卡, подарочная карта, بطاقة هدية, wallet code, wallet card, gift voucher, gift vouchers, presentkort, gavekort, lahjakortti, hediye karti, darkova karta, card cadou, ajandekkartya, the qua tang, kartu hadiah, บัตรของขวัญ, подарункова картка, δωροκαρτα, כרטיס מתנה, उपहार कार्ड, गिफ्ट कार्ड, গিফট কার্ড, گفٹ کارڈ, 禮品卡, 礼物卡',
    purchase: 'Purchase a voucher',
    buys: 'Buys a gift voucher.',
    asks: '`firstName`, `lastName`; many brands need `email` and `country` too, some a phone number or an address: `requiredFields` names all.',
    search:
      'Gift vouchers on sale. All filters must be met. An empty result says in hint what would find something.',
    searchAnswer: 'A page of vouchers, the best match first',
    browse:
      'Gift voucher offers with exact prices in USDC, also those that cannot be bought now, with the reason.',
    otherReceiver: 'The e-mail address or phone number is none of them.',
    noReceiver: 'Name one of them in email.',
    tags: ['gift-card', 'voucher'],
  },

  recipient,
  fields: {
    firstName: {
      form: name,
      otherNames: ['first', 'first_name', 'givenName', 'given_name', 'forename'],
      understood,
      alike,
      example: () => 'Ada',
    },
    lastName: {
      form: name,
      otherNames: ['last', 'last_name', 'surname', 'familyName', 'family_name'],
      understood,
      alike,
      example: () => 'Lovelace',
    },
    email: {
      form: 'must be an e-mail address',
      otherNames: ['mail', 'emailAddress', 'email_address', 'recipientEmail', 'recipient_email'],
      meantBy: (text: string) => z.email().safeParse(text.trim()).data,
      example: () => 'ada@example.com',
    },
    country: {
      ...countryHelp,
      otherNames: ['countryCode', 'country_code', 'iso'],
    },
    ...askedHelp,
  },
  receiver: 'email',
  secondReceiver: 'recipientMsisdn',
  rareFields: new Set(Object.keys(askedShape)),
  requiredFields({ requiredFields }: VoucherOffer): readonly string[] {
    const named = [...fieldOfKey].flatMap(([key, field]) =>
      requiredFields.includes(key) ? [field] : [],
    )
    return [...new Set(['firstName', 'lastName', ...named])]
  },
  unfillableFields: ({ requiredFields }: VoucherOffer): readonly string[] =>
    requiredFields.filter((key) => !fieldOfKey.has(key)),
  faultsIn: ({ requiredFields }: VoucherOffer, fields, now): readonly Fault[] =>
    askedFaults(requiredFields, fields, now),
  recipientOf: (_: VoucherOffer, fields: z.infer<typeof recipient>) => fields,
  takesValue: true,
  isCredited: false,

  delivery: z.object({
    kind: z.literal('voucher'),
    code: plainText.optional(),
    pin: plainText.optional(),
    redemptionUrl: plainText.optional(),
    instructions: plainText.optional(),
    terms: plainText.optional(),
    expiresAt: plainText.optional(),
    confirmationNumber: plainText.optional(),
    credited: credited.optional(),
  }),
  resultOf: (delivery) => delivery,
  faceValueOf: ({ faceValue, price }) => faceValue ?? price,
  inWords: ({ face, brandName, place, worth }) => `a ${face}${brandName} card${place}${worth}`,
  givenTo: ({ firstName, lastName }: z.infer<typeof recipient>) => `${firstName} ${lastName}`,

  indexed: (offer: VoucherOffer) => ({
    texts: [offer.description ?? '', ...(offer.categories ?? [])],
    // A search finds it by the supplier's own word and by its published sub-types alike.
    categories: [...new Set([...categoriesOf(offer), ...offer.subTypes])],
  }),
  isByCoverage: false,
  subTypes: voucherSubTypes,
  lists: ['brands', 'countries', 'filters'],
  search,
  browse,
  capabilitiesIn: (index: SearchIndex) => ({
    countries: index.values('country'),
    subtypes: voucherSubTypes.filter((subType) => index.values('subType').includes(subType)),
    regions: index.values('region'),
    brands: index.values('brandName'),
  }),

  published: {
    name: 'VoucherOffer',
    discovery: {
      brandName: z.string(),
      country: countryCode,
      description: z.string().optional(),
      shortNotes: z.string().optional(),
      productType: z.string(),
      image: z.url().optional(),
    },
    catalog: {
      categories: names.describe('What the supplier files it under; `category` finds it by these'),
    },
    detail: { redemptionInstructions: z.string().optional() },
    goods: {},
    capabilities: { countries: names, subtypes: names, regions: names, brands: names },
  },
  publishedValue: (offer: VoucherOffer, field) =>
    field === 'categories' ? categoriesOf(offer) : undefined,

  /** Not refundable once a code was issued, because nobody can prove that the code was not used. */
  vat: { treatment: 'multi_purpose_voucher', place: 'redemption' },
  refund: 'none',
  refundRule:
    'Refunded automatically and in full to the payer if no code is issued; a code that was issued is not refundable.',
  refundNote:
    'A voucher code is not refundable once issued. Until then a failed order is refunded automatically.',
} as const satisfies KindDefinition<VoucherOffer>

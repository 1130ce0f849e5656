import * as z from 'zod'
import { type Fault, invalidBody } from '../../lib/refusal.ts'
import { topupRegions, topupSubTypes } from '../lists.ts'
import type { Allowance, OfferBase } from '../offer.ts'
import {
  barePhone,
  exampleNumber,
  numberIn,
  phoneMeantBy,
  phonePattern,
  readPhone,
} from '../phone.ts'
import { defineSearch } from '../search/offer-search.ts'
import { country, described, oneOf, searchName, slugOrName } from '../search/params.ts'
import type { SearchIndex } from '../search/search-index.ts'
import {
  countryCode,
  credited,
  flagIn,
  gigabytesOf,
  type KindDefinition,
  lineAllowance,
  names,
  plainText,
  wholeAllowance,
} from './kind.ts'

export interface TopupOffer extends OfferBase {
  readonly kind: 'topup'
  readonly country: string
  readonly allowance: Allowance
}

const recipient = z.strictObject({
  /** Whether it is a mobile number of the offer's country is checked against the offer. */
  msisdn: z
    .string()
    .regex(phonePattern)
    .describe('Phone number to credit, in E.164 form: +5355564362'),
  confirmNumber: z
    .boolean()
    .optional()
    .describe('true insists on a phone number that was refused because no numbering plan has it'),
})

export type TopupRecipient = Pick<z.infer<typeof recipient>, 'msisdn'>

const operator = described(
  searchName,
  'Operator: its name, or the beginning of the words of its name',
)

const search = defineSearch({
  plural: 'topups',
  maxLimit: 50,
  hasFacets: true,
  query: {
    region: described(oneOf(topupRegions), 'Where the line is'),
    country,
    subType: described(oneOf(topupSubTypes), 'What the line gets'),
    brand: operator,
  },
  filtersOf: ({ country, brand, subType, region }) => ({
    country,
    brand,
    subType,
    regions: region && [region],
  }),
})

const browse = defineSearch({
  plural: 'topups',
  maxLimit: 100,
  query: {
    region: described(slugOrName(topupRegions), 'Where the line is: the slug of a region'),
    country,
    operator,
  },
  filtersOf: ({ country, region, operator }) => ({
    country,
    brand: operator,
    regions: region && [region],
  }),
})

export const topup = {
  kind: 'topup',
  plural: 'topups',
  words: {
    noun: 'topup',
    many: 'topups',
    article: 'a',
    about: 'Airtime, data or bundles sent to a mobile number.',
    found: 'airtime and data for phone numbers',
    asked:
      'top up, topup, top ups, topups, recharge, refill, airtime, prepaid credit, phone credit, mobile credit, call credit, reload, prepaid phone, load, mobile recharge, phone number, mobile number, line, sim recharge, credit, minutes, talk time, talktime, prepaid line, prepaid number, aufladen, guthaben, handyguthaben, recarga, recargar, recharger, ricarica, recarregar, saldo, пополнить, пополнение, チャージ, 充值, 话费, 储值, 충전, شحن, شحن رصيد, رصيد, ریچارج, रिचार्ज, রিচার্জ, เติมเงิน, nap tien, pulsa, isi pulsa, doladowanie, doladowac, doladuj, kontor, dobiti, dobijeni, feltoltes, reincarcare, beltegoed, opwaarderen, поповнити, поповнення, ανανεωση, טעינה, salio, call, calls, calling, mobile top up, phone top up, prepaid mobile, prepaid sim',
    purchase: 'Purchase a topup',
    buys: 'Sends airtime or data to a phone number.',
    asks: '`msisdn`, the phone number with plus and country code.',
    search:
      'Airtime, data and bundles for mobile lines. All filters must be met; facets says what each could be switched to.',
    searchAnswer: 'A page of topups, with facets',
    browse: 'Airtime, data and bundle offers of mobile operators, with exact prices in USDC.',
    otherReceiver: 'The number is none of them.',
    noReceiver: 'The number is none of them.',
    tags: ['topup', 'airtime'],
  },

  recipient,
  fields: {
    msisdn: {
      form: 'must be written with + and the country calling code, then the digits (E.164), such as +5355564362',
      otherNames: [
        'phone',
        'phoneNumber',
        'phone_number',
        'number',
        'mobile',
        'recipientPhone',
        'to',
      ],
      meantBy: phoneMeantBy,
      understood: barePhone,
      alike: (text: string) => text.replace(/[^+\d]/g, ''),
      example: ({ country }: OfferBase) => exampleNumber(country),
    },
    confirmNumber: {
      form: 'must be true or false',
      understood: flagIn,
      example: () => true,
    },
  },
  receiver: 'msisdn',
  receiverIn: numberIn,
  requiredFields: (_: TopupOffer): readonly string[] => ['msisdn'],
  faultsIn({ country }: TopupOffer, { msisdn, confirmNumber }): readonly Fault[] {
    if (typeof msisdn !== 'string') return []
    const phone = readPhone(msisdn, country)
    if ('fault' in phone) return [{ field: 'msisdn', ...phone.fault }]
    const isGood = phone.isValid || (confirmNumber !== undefined && confirmNumber !== false)
    return isGood ? [] : [{ field: 'msisdn', code: 'unassigned_number' }]
  },
  recipientOf({ country }: TopupOffer, { msisdn }: z.infer<typeof recipient>): TopupRecipient {
    const phone = readPhone(msisdn, country)
    if ('fault' in phone) throw invalidBody([{ field: 'msisdn', ...phone.fault }])
    return { msisdn: phone.number }
  },
  takesValue: true,
  isCredited: true,
  isRefusedSoonAfter: true,

  /** Without the number: it is personal data, stored only with the recipient, which is erased later. */
  delivery: z.object({
    kind: z.literal('topup'),
    confirmationNumber: plainText.optional(),
    credited: credited.optional(),
  }),
  resultOf(delivery, readRecipient: () => TopupRecipient | undefined) {
    const { msisdn } = readRecipient() ?? {}
    return { ...(msisdn === undefined ? {} : { msisdn }), ...delivery }
  },
  faceValueOf: ({ faceValue }) => faceValue,
  inWords({ face, brandName, place, worth, notes }, { msisdn }: Partial<TopupRecipient>) {
    const line = msisdn === undefined ? '' : ` for the number ${msisdn}`
    return `a ${face}${brandName} topup${place}${worth}${notes}${line}`
  },

  indexed: ({ allowance }: TopupOffer) => ({
    durationDays: allowance.durationDays,
    dataGb: gigabytesOf(allowance),
  }),
  isByCoverage: false,
  subTypes: topupSubTypes,
  lists: ['countries', 'regions'],
  search,
  browse,
  capabilitiesIn: (index: SearchIndex) => ({
    countries: index.values('country'),
    regions: topupRegions.filter((region) => index.values('region').includes(region)),
  }),

  published: {
    name: 'TopupOffer',
    discovery: { brandName: z.string(), country: countryCode, ...lineAllowance },
    catalog: wholeAllowance,
    detail: {},
    goods: { msisdn: z.string().optional() },
    capabilities: { countries: names, regions: names },
  },

  vat: { treatment: 'telecom_service', place: 'line' },
  refund: 'automatic',
  refundRule:
    'Refunded automatically and in full to the payer if the carrier rejects it; a topup credited to the handset is not refundable.',
  refundNote: 'A topup credited to the handset is not refundable.',
} as const satisfies KindDefinition<TopupOffer>

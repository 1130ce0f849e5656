import * as z from 'zod'
import { countryName } from '../countries.ts'
import { coarseRegions, regions, singleCountryRegions } from '../lists.ts'
import type { Allowance, OfferBase } from '../offer.ts'
import { defineSearch } from '../search/offer-search.ts'
import {
  countries,
  country,
  described,
  flag,
  invalidParameter,
  oneOf,
  searchName,
  searchText,
  slugOrName,
  wholeNumber,
} from '../search/params.ts'
import type { SearchIndex } from '../search/search-index.ts'
import {
  countryCode,
  dataAllowance,
  gigabytesOf,
  type KindDefinition,
  names,
  plainText,
  wholeAllowance,
} from './kind.ts'

export interface EsimOffer extends OfferBase {
  readonly kind: 'esim'
  readonly allowance: Allowance
  /** Its own country included. */
  readonly coverage: readonly Coverage[]
}

export interface Coverage {
  readonly country: string
  /** 2G, 3G, 4G, 5G. */
  readonly speeds: readonly string[]
}

export function isRegional(offer: EsimOffer): boolean {
  return offer.country === undefined && offer.coverage.length > 1
}

const iccid = /^89\d{17,18}$/

const digitsOf = (text: string) => text.replace(/[\s-]/g, '')

const recipient = z.strictObject({
  iccid: z
    .string()
    .regex(iccid)
    .optional()
    .describe('An installed eSIM bought here, 19 or 20 digits, to recharge instead of a new one'),
})

const delivery = z.object({
  kind: z.literal('esim'),
  iccid: plainText,
  smdpAddress: plainText.optional(),
  /** The matching id alone. */
  activationCode: plainText.optional(),
  lpa: plainText.optional(),
  instructions: plainText.optional(),
})
export type EsimDelivery = z.infer<typeof delivery>

/** The text of the QR code, "LPA:1$host$id" (SGP.22 4.1), or undefined without a host. */
export function lpaOf(delivery: Pick<EsimDelivery, 'smdpAddress' | 'activationCode' | 'lpa'>) {
  if (delivery.lpa !== undefined) return delivery.lpa
  const { smdpAddress, activationCode = '' } = delivery
  if (activationCode.startsWith('LPA:')) return activationCode
  if (activationCode.startsWith('1$')) return `LPA:${activationCode}`
  return smdpAddress ? `LPA:1$${smdpAddress}$${activationCode}` : undefined
}

const coarseNames = Object.keys(coarseRegions) as (keyof typeof coarseRegions)[]
const text = described(searchText, 'Free text over provider, notes and places')

const search = defineSearch({
  plural: 'esims',
  maxLimit: 50,
  query: {
    regions: described(
      oneOf(coarseNames),
      'Multi-country plans of this coarse region. In the catalog interface regions takes its finer regions, single-country plans included',
    ),
    country: described(
      country,
      'ISO 3166-1 alpha-2 code (XK is Kosovo). Alone: plans of this country only. With regions: plans that cover it',
    ),
    q: text,
    brand: described(searchName, 'Provider: its name, or the beginning of the words of its name'),
  },
  /**
   * A country alone means single-country plans of that country. A region always means multi-country
   * plans, and a country together with it one that they must cover (docs/contributors/decisions/017).
   */
  filtersOf({ country, regions, q, brand }) {
    const shared = { brand, text: q }
    if (regions === undefined) return { ...shared, country }
    const covers = country === undefined ? [] : [country]
    return { ...shared, multiCountry: true, regions: coarseRegions[regions], covers }
  },
})

const browse = defineSearch({
  plural: 'esims',
  maxLimit: 100,
  query: {
    regional: described(flag, 'true finds multi-country plans only'),
    duration: described({ ...wholeNumber(1, 3650), near: 'days' }, 'Duration in days, exactly'),
    regions: described(
      oneOf(regions),
      'The region of the plan, by its name in this catalog. In the discovery interface regions takes coarse names and finds multi-country plans only',
    ),
    region: described(slugOrName(regions), 'The same by its slug'),
    covers: described(
      countries,
      'Country codes with commas between them; a plan must cover every one',
    ),
    country: described(
      country,
      'ISO 3166-1 alpha-2 code (XK is Kosovo) of a single-country plan; with regional=true a country to be covered',
    ),
    q: text,
  },
  filtersOf({ country, regional, duration, q, covers = [], ...named }) {
    const region = named.regions ?? named.region
    const shared = { text: q, durationDays: duration, regions: region && [region] }
    if (regional !== true) return { ...shared, covers, country }
    return { ...shared, multiCountry: true, covers: country ? [country, ...covers] : covers }
  },
  checked(params) {
    const { regions, region = regions, regional } = params
    if (regions !== undefined && regions !== region) {
      const message = `regions asks for ${regions} and region for ${region}; give one.`
      throw invalidParameter('region', message)
    }
    if (regional !== true || !region || !singleCountryRegions.includes(region)) return params
    throw invalidParameter(
      regions === undefined ? 'region' : 'regions',
      `${region} names single-country plans only, so it cannot be combined with regional=true.`,
    )
  },
})

const maxSentence = 160

export const esim = {
  kind: 'esim',
  plural: 'esims',
  words: {
    noun: 'eSIM plan',
    many: 'eSIM plans',
    article: 'an',
    about: 'eSIM data plans: an activation code and a QR code to install.',
    found: 'eSIM data plans for travel',
    asked:
      'esim, esims, e sim, e sims, data plan, data plans, travel sim, travel data, roaming, sim card, sim, mobile data, internet, data, travel esim, roaming data, tourist sim, data esim, esim card, data roaming, data package, internet plan, mobile internet, wifi, datos, datos moviles, internet movil, donnees mobiles, mobile daten, dati mobili, dados moveis, donnees, daten, dados, internet package, hotspot, イーシム, 이심, 上网卡, esim plan, esim data, virtual sim, recharge esim, recharge my esim, esim recharge, top up esim, top up my esim, topup esim, topup my esim, esim top up, esim topup, digital sim, travel plan, 流量, データ, 데이터, есим, интернет',
    purchase: 'Purchase an eSIM',
    buys: 'Buys an eSIM plan: the answer has its ICCID and QR code.',
    asks: 'none for a new eSIM; `iccid` of an eSIM bought here recharges that one instead.',
    search: 'eSIM data plans for one country or many. All filters must be met.',
    searchAnswer: 'A page of eSIM plans',
    browse: 'eSIM data plans for one country or many, with exact prices in USDC.',
    otherReceiver: 'The eSIM is none of them.',
    noReceiver: 'A new eSIM is none of them; name one in iccid.',
    tags: ['esim', 'data'],
  },

  recipient,
  fields: {
    iccid: {
      form: 'must be the 19 or 20 digits of an installed eSIM, beginning with 89',
      otherNames: ['sim', 'simId', 'esim', 'esimId'],
      meantBy(text: string) {
        const digits = digitsOf(text)
        return iccid.test(digits) ? digits : undefined
      },
      understood: digitsOf,
      example: () => '8944000000000000000',
    },
  },
  receiver: 'iccid',
  requiredFields: (_: EsimOffer): readonly string[] => [],
  recipientOf: (_: EsimOffer, fields: z.infer<typeof recipient>) => fields,
  takesValue: false,
  isCredited: false,

  delivery,
  resultOf(delivered: EsimDelivery) {
    const lpa = lpaOf(delivered)
    return { ...delivered, ...(lpa === undefined ? {} : { lpa }) }
  },
  faceValueOf: () => undefined,
  inWords({ brandName, place, notes }, { iccid }: z.infer<typeof recipient>) {
    const plan = `${brandName} eSIM plan${place}${notes}`
    return iccid === undefined ? `a new ${plan}` : `a recharge of the eSIM ${iccid}: ${plan}`
  },
  fairUseOf({ shortNotes, notes }: EsimOffer): string | undefined {
    const sentences = `${shortNotes ?? ''}\n${notes ?? ''}`.split(/(?<=[.!])\s+|\n/)
    const slow = sentences.find((one) => /\d\s*[km]bps/i.test(one) && one.length <= maxSentence)
    return slow?.trim()
  },

  indexed: (offer: EsimOffer) => ({
    covers: offer.coverage.map(({ country }) => country),
    durationDays: offer.allowance.durationDays,
    dataGb: gigabytesOf(offer.allowance),
    isMultiCountry: isRegional(offer),
  }),
  isByCoverage: true,
  subTypes: [],
  lists: [],
  search,
  browse,
  capabilitiesIn(index: SearchIndex) {
    const [all, own] = [index.values('covers').length, index.values('country').length]
    return {
      coverage: `${all} countries and territories; single-country plans for ${own} of them`,
    }
  },

  published: {
    name: 'EsimPlan',
    discovery: { ...dataAllowance, shortNotes: z.string().optional() },
    catalog: wholeAllowance,
    detail: {
      coverage: z.array(z.object({ country: countryCode, name: z.string(), speeds: names })),
    },
    goods: {
      lpa: z.string().optional().describe('The activation code as one text: LPA:1$…'),
      qrPng: z.string().optional().describe('QR code of it, a PNG data URL'),
      qrSvg: z.string().optional().describe('QR code of it, as SVG'),
    },
    capabilities: { coverage: z.string() },
  },
  publishedValue({ coverage }: EsimOffer, field) {
    if (field !== 'coverage') return undefined
    return coverage.map(({ country, speeds }) => ({ country, name: countryName(country), speeds }))
  },

  vat: { treatment: 'telecom_service', place: 'customer' },
  refund: 'automatic',
  refundRule:
    'Refunded automatically and in full to the payer if delivery fails or the order expires; a delivered eSIM is not refundable.',
} as const satisfies KindDefinition<EsimOffer>

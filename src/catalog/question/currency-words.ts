import { fold } from '../../lib/text.ts'

/** Codes that nobody writes, and whose names have other meanings: "rights", "gold". */
const unnamed = new Set(['XDR', 'XSU', 'XUA', 'ZWG', 'ZWL', 'SLL'])
const codes = Intl.supportedValuesOf('currency').filter((code) => !unnamed.has(code))

/** Of several currencies that share a word, the first in this list is meant if nothing else is known. */
const usual = 'USD EUR GBP INR MXN SEK CHF KES SAR AED KRW RUB RON CRC JPY KWD NOK'.split(' ')

/** Words that are no English or Spanish names. */
const further: Readonly<Record<string, string>> = {
  USD: 'usdc долларов ドル 달러 美元',
  EUR: 'евро ユーロ 유로 欧元',
  GBP: 'quid sterling',
  JPY: '円 엔',
  BRL: 'reais',
  INR: 'rs',
  PKR: 'rs',
  LKR: 'rs',
  NPR: 'rs',
  SEK: 'kr kronor kroner',
  NOK: 'kr kronor kroner',
  DKK: 'kr kronor kroner',
  ISK: 'kr kronor kroner',
  CZK: 'kč korun',
  CHF: 'franken',
  PLN: 'zł złotych',
  HUF: 'ft',
  RON: 'lei',
  MDL: 'lei',
  RUB: 'руб рубля рублей',
  TRY: 'tl',
  MYR: 'rm',
  IDR: 'rp',
  KES: 'ksh',
  TZS: 'tsh',
  UGX: 'ush',
  XOF: 'cfa',
  XAF: 'cfa',
}

/** Dollars by the letters before their sign. */
const dollars: Readonly<Record<string, string>> = {
  USD: 'us',
  AUD: 'a au',
  CAD: 'c ca',
  NZD: 'nz',
  SGD: 's sg',
  HKD: 'hk',
  TWD: 'nt',
  MXN: 'mx',
  BRL: 'r',
  JMD: 'j ja',
  TTD: 'tt',
  XCD: 'ec',
  DOP: 'rd',
}
const signs: Readonly<Record<string, string>> = {
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₽': 'RUB',
  '₺': 'TRY',
  '₩': 'KRW',
  '₱': 'PHP',
  '₦': 'NGN',
  '฿': 'THB',
  '₫': 'VND',
  '₪': 'ILS',
  '₡': 'CRC',
  '₲': 'PYG',
  '₴': 'UAH',
  '₸': 'KZT',
  '₾': 'GEL',
  '₼': 'AZN',
  '৳': 'BDT',
  '₵': 'GHS',
}

/** Words that are also written before an amount. */
const leading = 'rs\\.? rm rp kr ksh tsh ush cfa'.split(' ')
/** Codes that are also words or names, and therefore mean a currency only behind an amount. */
const ambiguous = new Set('ALL BAM BOB CUP GEL MAD MOP PEN RON SOS TOP TRY'.split(' '))

const english = new Intl.DisplayNames('en', { type: 'currency' })
const spanish = new Intl.DisplayNames('es', { type: 'currency' })

/** Each word or sign, folded and in the singular, with the currencies that it may mean. */
const byWord = currenciesByWord()

function currenciesByWord(): ReadonlyMap<string, readonly string[]> {
  const pairs: [word: string, code: string][] = [
    ...codes.flatMap((code) => [code, ...namesOf(code)].map((word) => [word, code] as const)),
    ...pairsIn(further),
    ...pairsIn(dollars).map(([letters, code]) => [`${letters}$`, code] as const),
    ...Object.entries(signs),
  ].map(([word, code]) => [fold(word), code])
  const found = new Map<string, readonly string[]>()
  for (const [word, same] of Map.groupBy(pairs, ([word]) => word)) {
    const shared = same.map(([, code]) => code)
    const first = usual.filter((code) => shared.includes(code))
    found.set(word, [...new Set([...first, ...shared])])
  }
  const dollar = found.get('dollar') ?? []
  return found.set('$', dollar).set('buck', dollar)
}

function pairsIn(words: Readonly<Record<string, string>>): (readonly [string, string])[] {
  return Object.entries(words).flatMap(([code, list]) =>
    list.split(' ').map((word) => [word, code] as const),
  )
}

/** "dollar" of "US Dollar", and "dólar" of "dólar estadounidense". */
function namesOf(code: string): string[] {
  const inEnglish = english.of(code)?.split(' ').at(-1)
  const inSpanish = spanish
    .of(code)
    ?.replace(/^nuevo /, '')
    .split(' ')[0]
  return [inEnglish ?? code, inSpanish ?? code].map((name) => name.toLowerCase())
}

/**
 * The ISO 4217 codes of the currencies that a word or sign in a text may mean, the likeliest first. A dollar sign
 * behind letters that no currency has is a currency of its own, which nothing is sold in: "Q$".
 *
 * @param written what one of the patterns below has found
 */
export function currenciesNamed(written: string): readonly string[] {
  const word = fold(written)
  const forms = [word, word.replace(/[s.]$/, ''), word.replace(/es$/, '')]
  const found = forms.map((form) => byWord.get(form)).find((codes) => codes !== undefined)
  return found ?? [written.toUpperCase()]
}

const anyOf = (patterns: readonly string[]) =>
  `(?:${patterns.toSorted((one, other) => other.length - one.length).join('|')})`
/** As people write them, with accents or without. "All" and "top" behind a number are no codes. */
const names = [
  ...[...byWord.keys()].filter((word) => /^\p{L}+$/u.test(word) && !/^(?:all|top)$/.test(word)),
  ...codes.flatMap(namesOf),
  ...pairsIn(further).map(([word]) => word),
]
const sign = `(?:(?<![\\p{L}])\\p{L}{1,2})?\\$|[${Object.keys(signs).join('')}]`

/** What may stand before an amount or behind it, as patterns for the flags `iu`. */
export const currencyPatterns = {
  sign: `(?:${sign})`,
  before: `(?<![\\p{L}])${anyOf([...leading, ...codes.filter((code) => !ambiguous.has(code))])}`,
  behind: `(?:${sign}|${anyOf([...new Set(names)])}(?:e?s)?(?![\\p{L}]))`,
} as const

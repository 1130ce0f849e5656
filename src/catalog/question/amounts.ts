import { fold } from '../../lib/text.ts'
import { phraseAt, type Token } from './tokens.ts'
import type { Vocabulary } from './vocabulary.ts'
import words from './words.json' with { type: 'json' }

/** A number with what it counts: money, data, days, or what no offer tells, such as somebody's years. */
export interface Amount {
  readonly type: 'money' | 'data' | 'days' | 'other'
  /** The number of the token behind it. */
  readonly end: number
  /** In gigabytes or days, or in major units of the currency. */
  readonly amount: number
  /** The lower end of a range: "10 to 20 dollars". */
  readonly low?: number
  /** The ISO 4217 codes of the currencies that it may be in, the likeliest first. */
  readonly currencies: readonly string[]
}

interface Words {
  readonly tokens: readonly Token[]
  readonly words: Vocabulary
}

/** The amount that begins with this token. */
export function amountAt(words: Words, at: number): Amount | undefined {
  return datesAt(words, at) ?? rangeAt(words, at) ?? singleAt(words, at)
}

/** The dates of a travel, as its days: "3 to 17 May", "from December 28 to January 4". */
function datesAt(words: Words, at: number): Amount | undefined {
  const first = dateAt(words, at)
  const next = first && separated(words, first.end)
  const last = next === undefined ? undefined : dateAt(words, next)
  const month = first?.month ?? last?.month
  if (first === undefined || last === undefined || month === undefined) return undefined
  const begin = Date.UTC(2001, month, first.day)
  const end = Date.UTC(2001, last.month ?? month, last.day)
  const days = Math.round((end - begin) / 86_400_000)
  return { type: 'days', amount: (days < 0 ? days + 365 : days) + 1, currencies: [], end: last.end }
}

interface DayOfYear {
  readonly day: number
  readonly month: number | undefined
  readonly end: number
}

function dateAt(words: Words, at: number): DayOfYear | undefined {
  const before = monthAt(words, at)
  if (before !== undefined) {
    const date = dayAt(words, at + 1)
    // "May 5 GB" is no date.
    return date && !unitAt(words, date.end) ? { ...date, month: before } : undefined
  }
  const date = dayAt(words, at)
  const isOf = /^(?:of|de)$/.test(words.tokens[date?.end ?? -1]?.word ?? '')
  const monthBegin = (date?.end ?? at) + (isOf ? 1 : 0)
  const month = monthAt(words, monthBegin)
  return date && month !== undefined ? { ...date, month, end: monthBegin + 1 } : date
}

function dayAt({ tokens }: Words, at: number): DayOfYear | undefined {
  const { isNumber = false, word = '' } = tokens[at] ?? {}
  const day = Number(word)
  if (!isNumber || !(day >= 1 && day <= 31)) return undefined
  const isOrdinal = /^(?:st|nd|rd|th|er)$/.test(tokens[at + 1]?.word ?? '')
  return { day, month: undefined, end: isOrdinal ? at + 2 : at + 1 }
}

function monthAt({ tokens, words }: Words, at: number): number | undefined {
  return words.months.get(tokens[at]?.word ?? '')
}

/** Where the second of two amounts begins, if a dash or a word such as "to" is between them. */
function separated({ tokens, words }: Words, at: number): number | undefined {
  const { gap = '', word = '' } = tokens[at] ?? {}
  if (/^[.\s]*[-–—]\s*$/.test(gap)) return at
  return words.until.has(word) ? at + 1 : undefined
}

function rangeAt(words: Words, at: number): Amount | undefined {
  const first = singleAt(words, at) ?? numberAt(words, at)
  const next = first && separated(words, first.end)
  const last = next === undefined ? undefined : singleAt(words, next)
  const isOne = first && last && (!('type' in first) || first.type === last.type)
  return isOne ? { ...last, low: first.amount } : undefined
}

function singleAt(words: Words, at: number): Amount | undefined {
  const leading = leadingMoneyAt(words, at)
  if (leading !== undefined) return leading
  const number = numberAt(words, at)
  const unit = number && unitAt(words, number.end)
  if (number === undefined || unit === undefined) return undefined
  const { tokens } = words
  const amount = number.amount * (unit.size ?? 1)
  if (unit.type === 'days' && tokens[unit.end]?.word === 'old') {
    return { type: 'other', amount, currencies: [], end: unit.end + 1 }
  }
  return { type: unit.type, amount, currencies: unit.currencies ?? [], end: unit.end }
}

interface NumberRead {
  readonly amount: number
  readonly end: number
}

function numberAt({ tokens, words }: Words, at: number): NumberRead | undefined {
  const token = tokens[at]
  if (token === undefined) return undefined
  if (token.isNumber) return { amount: amountIn(token.word), end: at + 1 }
  const amount = words.numbers.get(token.word)
  if (amount === undefined) return undefined
  return { amount, end: tokens[at + 1]?.word === 'of' ? at + 2 : at + 1 }
}

/** A point before three digits separates thousands. */
export function amountIn(text: string): number {
  const plain = text.startsWith('0') ? text : text.replace(/[.,](?=\d{3}(?!\d))/g, '')
  return Number(plain.replace(',', '.').replace(/[.,]+(?=.*\.)/g, ''))
}

interface UnitRead {
  readonly type: 'money' | 'data' | 'days' | 'other'
  readonly size?: number
  readonly currencies?: readonly string[]
  readonly end: number
}

function unitAt({ tokens, words }: Words, at: number): UnitRead | undefined {
  const { word = '', gap = '.' } = tokens[at] ?? {}
  if (!/^[\s-]*$/.test(gap)) return undefined
  const unit = words.units.get(word)
  // The name of what a game sells may be that of the game.
  if (unit?.type === 'other') return { type: 'other', end: at }
  if (unit !== undefined) return { ...unit, end: at + 1 }
  for (let size = 3; size > 0; size--) {
    const currencies = at + size <= tokens.length && currenciesBehind(phraseAt(tokens, at, size))
    if (currencies) return { type: 'money', currencies, end: at + size }
  }
  return undefined
}

/** Money with its currency before the number: "$20", "US$20", "EUR 20". */
function leadingMoneyAt({ tokens }: Words, at: number): Amount | undefined {
  const [first, second] = [tokens[at], tokens[at + 1]]
  const isParted = first && second?.gap === '' && second.word === '$' && first.word.length <= 2
  const size = isParted ? 2 : 1
  const currencies = currenciesBefore(phraseAt(tokens, at, size))
  const number = tokens[at + size]
  if (currencies === undefined || !number?.isNumber || !/^[\s.]*$/.test(number.gap)) {
    return undefined
  }
  return { type: 'money', amount: amountIn(number.word), currencies, end: at + size + 1 }
}

/** Codes that nobody writes, and whose names have other meanings: "rights", "gold". */
const unnamed = new Set(['XDR', 'XSU', 'XUA', 'ZWG', 'ZWL', 'SLL'])
const codes = Intl.supportedValuesOf('currency').filter((code) => !unnamed.has(code))

/** Of several currencies that share a word, the first in this list is meant if nothing else is known. */
const usual = 'USD EUR GBP INR MXN SEK CHF KES SAR AED KRW RUB RON CRC JPY KWD NOK'.split(' ')

/** Words that are also written before an amount. */
const leading = new Set('rs rm rp kr ksh tsh ush cfa usdc'.split(' '))
/** Codes that are also words or names, and therefore mean a currency only behind an amount. */
const ambiguous = new Set('ALL BAM BOB CUP GEL MAD MOP PEN RON SOS TOP TRY'.split(' '))

const english = new Intl.DisplayNames('en', { type: 'currency' })
const spanish = new Intl.DisplayNames('es', { type: 'currency' })

/** Each word or sign, folded and in the singular, with the currencies that it may mean, the likeliest first. */
const byWord = currenciesByWord()

function currenciesByWord(): ReadonlyMap<string, readonly string[]> {
  const named = codes.flatMap((code) => [code, ...namesOf(code)].map((word) => [word, code]))
  // Signs, dollars by the letters before them, and words that are no English or Spanish names.
  const others = Object.entries(words.currencies).flatMap(([code, list]) =>
    list.split(' ').map((word) => [word, code]),
  )
  const found = new Map<string, readonly string[]>()
  for (const [word, same] of Map.groupBy([...named, ...others], ([name = '']) => fold(name))) {
    const shared = same.map(([, code = '']) => code)
    const first = usual.filter((code) => shared.includes(code))
    found.set(word, [...new Set([...first, ...shared])])
  }
  const dollars = found.get('dollar') ?? []
  return found.set('$', dollars).set('buck', dollars)
}

/** "US Dollar", "Dollar", and "dólar" of "dólar estadounidense". */
function namesOf(code: string): string[] {
  const name = english.of(code) ?? code
  const [first = code] = (spanish.of(code) ?? code).replace(/^nuevo /, '').split(' ')
  return [name, name.split(' ').at(-1) ?? code, first]
}

/** The currencies that a phrase behind an amount may mean. "All" and "top" behind a number are no codes. */
function currenciesBehind(phrase: string): readonly string[] | undefined {
  if (phrase === 'all' || phrase === 'top') return undefined
  const forms = [phrase, phrase.replace(/s$/, ''), phrase.replace(/es$/, '')]
  return forms.map((form) => byWord.get(form)).find((found) => found !== undefined)
}

/**
 * The currencies that a phrase before an amount may mean. A dollar sign behind letters that no currency has is one of
 * its own, which nothing is sold in: "Q$".
 */
function currenciesBefore(phrase: string): readonly string[] | undefined {
  const code = phrase.toUpperCase()
  const isCode = /^[A-Z]{3}$/.test(code) && !ambiguous.has(code)
  if (/\p{Sc}/u.test(phrase)) return byWord.get(phrase) ?? [code]
  return isCode || leading.has(phrase) ? byWord.get(phrase) : undefined
}

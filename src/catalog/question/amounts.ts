import { fold } from '../../lib/text.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface Token {
  /** Folded. */
  readonly word: string
  readonly from: number
  readonly to: number
  readonly gap: string
  readonly isNumber: boolean
  readonly isUpper: boolean
}

/** A number, a sign of a currency with up to two letters ("R$"), a letter or a run of letters, or another sign. */
const pattern =
  /\d+(?:[.,]\d+)*|[A-Za-z]{0,2}\p{Sc}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]|[[\p{L}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]]+|[<>]=?|[≤≥]/gv

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const { 0: part, index: from } of text.matchAll(pattern)) {
    const word = fold(part)
    const gap = text.slice(tokens.at(-1)?.to ?? 0, from)
    const isUpper = /^[A-Z]{2}$/.test(part)
    if (word === '') continue
    tokens.push({ word, from, to: from + part.length, gap, isNumber: /^\d/.test(part), isUpper })
  }
  return tokens
}

export function phraseAt(tokens: readonly Token[], at: number, size: number): string {
  let phrase = tokens[at]?.word ?? ''
  for (const { word, gap } of tokens.slice(at + 1, at + size)) {
    phrase += gap === '' ? word : ` ${word}`
  }
  return phrase
}

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

export function amountAt(words: Words, at: number): Amount | undefined {
  return datesAt(words, at) ?? rangeAt(words, at) ?? singleAt(words, at)
}

/** The dates of a travel, as its days: "3 to 17 May", "from December 28 to January 4". */
function datesAt(words: Words, at: number): Amount | undefined {
  const first = dateAt(words, at)
  const last = first && dateAt(words, endOfSeparator(words, first.end))
  const month = first?.month ?? last?.month
  if (first === undefined || last === undefined || month === undefined) return undefined
  const start = Date.UTC(2001, month, first.day)
  const end = Date.UTC(2001, last.month ?? month, last.day)
  const days = Math.round((end - start) / 86_400_000)
  return { type: 'days', amount: (days < 0 ? days + 365 : days) + 1, currencies: [], end: last.end }
}

interface DayOfYear {
  readonly day: number
  readonly month: number | undefined
  readonly end: number
}

function dateAt({ tokens, words }: Words, at: number): DayOfYear | undefined {
  const monthAt = (place: number) => words.months.get(tokens[place]?.word ?? '')
  const before = monthAt(at)
  const number = tokens[before === undefined ? at : at + 1]
  const day = number?.isNumber ? Number(number.word) : 0
  if (!(day >= 1 && day <= 31)) return undefined
  let end = before === undefined ? at + 1 : at + 2
  while (/^(?:st|nd|rd|th|of|de)$/.test(tokens[end]?.word ?? '')) end += 1
  if (before !== undefined) return { day, month: before, end }
  const month = monthAt(end)
  return { day, month, end: month === undefined ? end : end + 1 }
}

function endOfSeparator({ tokens, words }: Words, at: number): number {
  const { gap = '', word = '' } = tokens[at] ?? {}
  if (/^[.\s]*[-–—]\s*$/.test(gap)) return at
  return words.until.has(word) ? at + 1 : -1
}

function rangeAt(words: Words, at: number): Amount | undefined {
  const first = singleAt(words, at) ?? numberAt(words, at)
  const last = first && singleAt(words, endOfSeparator(words, first.end))
  const isOne = first && last && (!('type' in first) || first.type === last.type)
  return isOne ? { ...last, low: first.amount } : undefined
}

function singleAt(words: Words, at: number): Amount | undefined {
  const { tokens } = words
  const leading = currenciesBefore(words, at)
  const behind = tokens[at + 1]
  if (leading !== undefined && behind?.isNumber && /^[\s.]*$/.test(behind.gap)) {
    return { type: 'money', amount: amountIn(behind.word), currencies: leading, end: at + 2 }
  }
  const number = numberAt(words, at)
  const unit = number && unitAt(words, number.end)
  return unit && { ...unit, amount: number.amount * unit.amount }
}

function unitAt({ tokens, words }: Words, at: number): Amount | undefined {
  for (let size = Math.min(3, tokens.length - at); size > 0; size--) {
    const phrase = phraseAt(tokens, at, size)
    const unit = words.units.get(phrase)
    // The name of what a game sells may be that of the game.
    if (unit?.type === 'other') return { type: 'other', amount: 1, currencies: [], end: at }
    if (unit) return { type: unit.type, amount: unit.size, currencies: [], end: at + size }
    const forms = [phrase, phrase.replace(/s$/, ''), phrase.replace(/es$/, '')]
    const currencies = forms.map((form) => words.currencies.get(form)).find(Boolean)
    if (currencies) return { type: 'money', amount: 1, currencies, end: at + size }
  }
  return undefined
}

interface NumberRead {
  readonly amount: number
  readonly end: number
}

function numberAt({ tokens, words }: Words, at: number): NumberRead | undefined {
  const token = tokens[at]
  const amount = token?.isNumber ? amountIn(token.word) : words.numbers.get(token?.word ?? '')
  return amount === undefined ? undefined : { amount, end: at + 1 }
}

/** A point before three digits separates thousands. */
export function amountIn(text: string): number {
  return Number.parseFloat(text.replace(/(?<!^0)[.,](?=\d{3}(?!\d))/g, '').replace(',', '.'))
}

/** A dollar sign behind letters that no currency has is one of its own, which nothing is sold in: "Q$". */
function currenciesBefore({ tokens, words }: Words, at: number): readonly string[] | undefined {
  const { word = '' } = tokens[at] ?? {}
  // "All" and "top" are words rather than codes.
  if (words.meanings.get(word)?.type === 'filler') return undefined
  return words.currencies.get(word) ?? (/\p{Sc}/u.test(word) ? [word] : undefined)
}

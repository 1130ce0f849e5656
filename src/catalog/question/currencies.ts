import { fold } from '../../lib/text.ts'
import words from './words.json' with { type: 'json' }

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
export function currenciesBehind(phrase: string): readonly string[] | undefined {
  if (phrase === 'all' || phrase === 'top') return undefined
  const forms = [phrase, phrase.replace(/s$/, ''), phrase.replace(/es$/, '')]
  return forms.map((form) => byWord.get(form)).find((found) => found !== undefined)
}

/**
 * The currencies that a phrase before an amount may mean. A dollar sign behind letters that no currency has is one of
 * its own, which nothing is sold in: "Q$".
 */
export function currenciesBefore(phrase: string): readonly string[] | undefined {
  const code = phrase.toUpperCase()
  const isCode = /^[A-Z]{3}$/.test(code) && !ambiguous.has(code)
  if (/\p{Sc}/u.test(phrase)) return byWord.get(phrase) ?? [code]
  return isCode || leading.has(phrase) ? byWord.get(phrase) : undefined
}

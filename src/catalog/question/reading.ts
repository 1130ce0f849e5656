import { oneLine } from '../../lib/text.ts'
import { isCountry } from '../countries.ts'
import { byKind, type Kind, kinds } from '../offer.ts'
import { type BrandLexicon, brandLexicon, brandsLike } from '../search/brand-lexicon.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { type Amount, amountAt, amountIn, phraseAt, type Token, tokensOf } from './amounts.ts'
import { bareNumberIn, iccidIn, type PhonePlace, readPhonePlace, type Span } from './phone-place.ts'
import { type Bounded, longestPhrase, type Meaning, vocabulary } from './vocabulary.ts'

export type Indexes = Readonly<Record<Kind, SearchIndex>>

type Brands = Readonly<Record<Kind, readonly string[]>>

export type PartMeaning =
  | Exclude<Meaning, { readonly type: 'bound' | 'not' | 'join' | 'filler' }>
  | { readonly type: 'brand'; readonly brands: Brands }
  | ({ readonly type: 'money'; readonly currencies: readonly string[] } & Bounded)
  | { readonly type: 'number'; readonly amount: number }
  | ({ readonly type: 'phone' } & Pick<PhonePlace, 'country' | 'operator'>)
  | { readonly type: 'iccid' }
  /** A word without a meaning here. */
  | { readonly type: 'word' }

export type Part<S extends PartMeaning = PartMeaning> = S &
  Span & {
    /** As it is written, but for digits that no answer repeats. */
    readonly text: string
    readonly isExcluded: boolean
  }

export interface Reading {
  /** The text of which the parts say where they are. */
  readonly text: string
  /** In the order of the text. Words such as "the" and "please" are in none. */
  readonly parts: readonly Part[]
}

export function partsOf<T extends PartMeaning['type']>(
  { parts }: Pick<Reading, 'parts'>,
  ...types: readonly T[]
): Part<Extract<PartMeaning, { type: T }>>[] {
  return parts.filter((part): part is Part<Extract<PartMeaning, { type: T }>> =>
    types.some((type) => type === part.type),
  )
}

/** Reads a question once from left to right. The work grows only with its length, which is bounded. */
export function readQuestion(
  written: string,
  indexes: Indexes,
  beside: { readonly kind?: Kind | undefined; readonly country?: string | undefined } = {},
): Reading {
  const { kind, country } = beside
  const text = withoutFlags(oneLine(written))
  const isLine = kind === undefined || kind === 'topup'
  const number = numberIn(text, isLine ? country : undefined)
  const parts = new Reader(text, number, indexes).readParts()
  const [place, ...others] = partsOf({ parts }, 'country')
  // The words may name the country of a number that has no code: "0803 123 4567 nigeria".
  const local =
    number?.type === 'context' && isLine && place && others.length === 0
      ? numberIn(text, place.code)
      : undefined
  return { text, parts: local ? parts.map((part) => (part === number ? local : part)) : parts }
}

/** The text in which codes of countries stand for flags, which are pairs of regional indicator letters. */
function withoutFlags(text: string): string {
  const letter = (sign: string) =>
    String.fromCharCode((sign.codePointAt(0) as number) - 0x1f1e6 + 65)
  return text.replace(/[\u{1f1e6}-\u{1f1ff}]{2}/gu, (flag) => ` ${[...flag].map(letter).join('')} `)
}

/** The number of an eSIM, a phone number, or what may be one: only its kind is said, never its digits. */
function numberIn(text: string, country: string | undefined): Part | undefined {
  const iccid = iccidIn(text)
  if (iccid !== undefined) return partAt(iccid, 'ICCID', { type: 'iccid' })
  const phone = readPhonePlace(text, country)
  if (phone !== undefined) return partAt(phone, 'phone number', { ...phone, type: 'phone' })
  const bare = bareNumberIn(text)
  return bare && partAt(bare, 'phone number', { type: 'context' })
}

function partAt({ from, to }: Span, text: string, meaning: PartMeaning): Part {
  return { ...meaning, from, to, text, isExcluded: false }
}

const isExcludable: ReadonlySet<string> = new Set(['brand', 'country', 'region', 'kind', 'use'])
/** What a phrase means even if a brand or a country has that name or code. */
const isGrammar: ReadonlySet<string> = new Set(
  'filler join not bound context kind device'.split(' '),
)

/** Shorter names can result from small words by chance. */
const minJoinedLength = 6

class Reader {
  readonly #text: string
  readonly #tokens: readonly Token[]
  readonly #words = vocabulary
  readonly #lexicons: Readonly<Record<Kind, BrandLexicon>>
  readonly #parts: Part[]
  #bound: { readonly from: number; readonly is: 'most' | 'least' } | undefined
  /** "Not", until what it is about. Behind that, only a list goes on. */
  #not: (Span & { isUsed: boolean }) | undefined

  constructor(text: string, number: Part | undefined, indexes: Indexes) {
    this.#text = text
    this.#parts = number === undefined ? [] : [number]
    this.#lexicons = byKind((one) => brandLexicon(indexes[one]))
    this.#tokens = tokensOf(text).filter(
      ({ from, to }) => number === undefined || from >= number.to || to <= number.from,
    )
  }

  readParts(): readonly Part[] {
    for (let at = 0; at < this.#tokens.length; ) at += this.#takeAt(at)
    this.#endNot()
    return this.#parts.sort((one, other) => one.from - other.from)
  }

  #sizesAt(at: number, most = longestPhrase): number[] {
    const longest = Math.min(most, this.#tokens.length - at)
    return Array.from({ length: longest }, (_, index) => longest - index)
  }

  /** Takes what begins with this token. Returns how many tokens it has. */
  #takeAt(at: number): number {
    const { gap, word } = this.#tokens[at] as Token
    if (/[.;:!?]\s/.test(gap) || (gap.includes(',') && !this.#not?.isUsed)) this.#endNot()
    // The end of a domain that is of no country.
    if (gap.endsWith('.') && /^(?:ai|com?|fm|gg|io|ly|me|net|org|to|tv)$/.test(word)) return 1
    const amount = amountAt({ tokens: this.#tokens, words: this.#words }, at)
    if (amount !== undefined) return this.#takeAmount(at, amount)
    for (const size of this.#sizesAt(at)) {
      const taken = this.#takePhrase(at, size)
      if (taken !== undefined) return taken
    }
    return this.#takeUnclear(at) ?? this.#takeUnknown(at)
  }

  #add(at: number, size: number, said: PartMeaning, begin?: number): number {
    const not = isExcludable.has(said.type) ? this.#not : undefined
    const own = this.#spanOf(at, size)
    const from = not?.isUsed === false ? not.from : (begin ?? own.from)
    const text = this.#text.slice(from, own.to)
    this.#parts.push({ ...said, from, to: own.to, text, isExcluded: not !== undefined })
    if (not === undefined) this.#endNot()
    else not.isUsed = true
    this.#bound = undefined
    return size
  }

  #spanOf(at: number, size: number): Span {
    const { from } = this.#tokens[at] as Token
    return { from, to: (this.#tokens[at + size - 1] as Token).to }
  }

  /** "Not" that was about nothing that can be excluded is no part of what is understood. */
  #endNot(): void {
    const not = this.#not
    this.#not = undefined
    if (not === undefined || not.isUsed) return
    this.#parts.push(partAt(not, this.#text.slice(not.from, not.to), { type: 'context' }))
  }

  #takeAmount(at: number, { end: next, ...amount }: Amount): number {
    const { type, currencies } = amount
    if (type === 'other') return this.#add(at, next - at, { type: 'context' })
    const behind = this.#bound === undefined ? this.#boundBehind(next) : undefined
    const end = behind?.end ?? next
    const bounds = boundsOf(amount, this.#bound?.is ?? behind?.is)
    const said: PartMeaning =
      type === 'money' ? { type, currencies, ...bounds } : { type, ...bounds }
    return this.#add(at, end - at, said, this.#bound?.from)
  }

  /** A bound behind an amount: "20 dollars or less". One before another amount is of that: "5 GB, max 10 dollars". */
  #boundBehind(at: number): { readonly is: 'most' | 'least'; readonly end: number } | undefined {
    for (const size of this.#sizesAt(at)) {
      const meaning = this.#words.meanings.get(phraseAt(this.#tokens, at, size))
      if (meaning?.type !== 'bound') continue
      const end = at + size
      const isOfNext =
        this.#tokens[end]?.isNumber ||
        amountAt({ tokens: this.#tokens, words: this.#words }, end) !== undefined
      return isOfNext && !meaning.isBehind ? undefined : { is: meaning.bound, end }
    }
    return undefined
  }

  #takePhrase(at: number, size: number): number | undefined {
    const phrase = phraseAt(this.#tokens, at, size)
    const meaning = this.#words.meanings.get(phrase)
    const isName = meaning === undefined || !isGrammar.has(meaning.type)
    const brands = isName ? this.#brandsIn('whole', phrase) : undefined
    if (brands !== undefined) return this.#add(at, size, { type: 'brand', brands })
    const code = size === 1 ? this.#codeAt(at, meaning) : undefined
    if (code !== undefined) return this.#add(at, size, { type: 'country', code })
    if (meaning !== undefined) return this.#takeMeaning(at, size, meaning)
    const joined = phrase.replaceAll(' ', '')
    const parted = joined.length < minJoinedLength ? undefined : this.#brandsIn('joined', joined)
    return parted && this.#add(at, size, { type: 'brand', brands: parted })
  }

  #takeMeaning(at: number, size: number, meaning: Meaning): number {
    switch (meaning.type) {
      case 'filler':
        if (this.#not?.isUsed) this.#not = undefined
        return size
      case 'join':
        return size
      case 'not':
        this.#endNot()
        this.#not = { ...this.#spanOf(at, size), isUsed: false }
        return size
      case 'bound':
        return this.#takeBound(at, size, meaning)
      case 'device':
        // The number of a device is part of its name: "iphone 15".
        return this.#add(at, this.#tokens[at + size]?.isNumber ? size + 1 : size, meaning)
      default:
        return this.#add(at, size, meaning)
    }
  }

  #takeBound(at: number, size: number, meaning: Extract<Meaning, { type: 'bound' }>): number {
    const { bound, isNegatable } = meaning
    const not = isNegatable && !this.#not?.isUsed ? this.#not : undefined
    const { from } = not ?? this.#spanOf(at, size)
    const other = bound === 'most' ? 'least' : 'most'
    this.#bound = { from, is: not === undefined ? bound : other }
    if (not !== undefined) this.#not = undefined
    return size
  }

  /** The country whose code this is: in capitals, at the end of a domain, or where it can hardly be another word. */
  #codeAt(at: number, meaning: Meaning | undefined): string | undefined {
    const { word, isUpper, gap } = this.#tokens[at] as Token
    const code = word.toUpperCase()
    // TV is what people watch, and hardly Tuvalu.
    if (!isCountry(code) || meaning?.type === 'use') return undefined
    return isUpper || gap === '.' || !this.#isOtherWord(at, meaning) ? code : undefined
  }

  #isOtherWord(at: number, meaning: Meaning | undefined): boolean {
    const { word } = this.#tokens[at] as Token
    const before = this.#tokens[at - 1]?.word ?? ''
    if (word === 'us') return /^(?:for|to|with|of|give|let|by|tell|help)$/.test(before)
    // French "au" and Spanish "de" stand between words.
    const isLast = at > 0 && this.#tokens.slice(at + 1).every(({ isNumber }) => isNumber)
    if (isLast && /^(?:au|de)$/.test(word)) return false
    return meaning !== undefined && isGrammar.has(meaning.type)
  }

  /** Takes a part of a name, or a misspelled name, which may be another word: only if no brand is wanted already. */
  #takeUnclear(at: number): number | undefined {
    const { word } = this.#tokens[at] as Token
    const hasBrand = this.#parts.some(({ type, isExcluded }) => type === 'brand' && !isExcluded)
    if (this.#words.everyday.has(word) || (hasBrand && this.#not === undefined)) return undefined
    const brands = this.#brandsIn('parts', word)
    if (brands !== undefined) return this.#add(at, 1, { type: 'brand', brands })
    for (const size of this.#sizesAt(at, 3)) {
      const said = this.#misspelled(phraseAt(this.#tokens, at, size).replaceAll(' ', ''))
      if (said !== undefined) return this.#add(at, size, said)
    }
    return undefined
  }

  #misspelled(text: string): PartMeaning | undefined {
    if (text.length < 4 || !/[a-z]/.test(text) || /^\d|\d{3}/.test(text)) return undefined
    const [code] = text.length > 5 ? this.#words.places(text) : []
    if (code !== undefined) return { type: 'country', code }
    const brands = byKind((kind) => brandsLike(this.#lexicons[kind], text))
    return kinds.some((kind) => brands[kind].length > 0) ? { type: 'brand', brands } : undefined
  }

  #takeUnknown(at: number): number {
    const { word, isNumber, gap } = this.#tokens[at] as Token
    const last = this.#parts.at(-1)
    const { from, to } = this.#spanOf(at, 1)
    if (isNumber) return this.#takeNumber(at, amountIn(word))
    // Single letters and signs mean nothing by themselves.
    if (/^(?:[a-z]|\P{L}+)$/u.test(word)) return 1
    // Letters of writing without spaces are one word.
    if (last?.type !== 'word' || gap !== '' || last.to !== from) {
      return this.#add(at, 1, { type: 'word' })
    }
    this.#parts.splice(-1, 1, { ...last, to, text: this.#text.slice(last.from, to) })
    return 1
  }

  /** A number without a unit. With a bound it is money: "not above 30". */
  #takeNumber(at: number, amount: number): number {
    if (this.#bound === undefined) return this.#add(at, 1, { type: 'number', amount })
    return this.#takeAmount(at, { type: 'money', end: at + 1, amount, currencies: ['USD'] })
  }

  #brandsIn(table: 'whole' | 'joined' | 'parts', phrase: string): Brands | undefined {
    if (!kinds.some((kind) => this.#lexicons[kind][table].has(phrase))) return undefined
    return byKind((kind) => this.#lexicons[kind][table].get(phrase) ?? [])
  }
}

function boundsOf(
  { type, amount, low }: Omit<Amount, 'end'>,
  bound: 'most' | 'least' | undefined,
): Bounded {
  if (bound !== undefined) return { [bound]: amount }
  if (low === undefined) return type === 'money' ? { exact: amount } : { least: amount }
  // A plan for "7-10 days" must last for ten.
  return type === 'days' ? { least: amount } : { least: low, most: amount }
}

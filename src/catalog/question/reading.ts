import { oneLine, wordsOf } from '../../lib/text.ts'
import { isCountry } from '../countries.ts'
import { byKind, kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import { type BrandLexicon, brandLexicon, brandsLike } from '../search/brand-lexicon.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { alike } from '../search/words.ts'
import { type Amount, amountAt, amountIn } from './amounts.ts'
import { bareNumberIn, iccidIn, type PhonePlace, readPhonePlace, type Span } from './phone-place.ts'
import { phraseAt, type Token, tokensOf, withoutFlags } from './tokens.ts'
import { longestPhrase, type Meaning, type Use, type Vocabulary, vocabulary } from './vocabulary.ts'

export type Indexes = Readonly<Record<Kind, SearchIndex>>

/** Brands by kind, as the supplier's keys. */
export type Brands = Readonly<Record<Kind, readonly string[]>>

/** An amount with its bounds, or just the amount. */
interface Bounded {
  readonly least?: number | undefined
  readonly most?: number | undefined
  readonly exact?: number | undefined
}

/** What a part of a question says. */
export type Said =
  | { readonly type: 'brand'; readonly brands: Brands }
  | { readonly type: 'country'; readonly code: string }
  | { readonly type: 'region'; readonly name: string; readonly countries: readonly string[] }
  | { readonly type: 'use'; readonly use: Use }
  | { readonly type: 'kind'; readonly kind: Kind }
  | { readonly type: 'device' }
  | ({ readonly type: 'money'; readonly currencies: readonly string[] } & Bounded)
  | ({ readonly type: 'data' } & Bounded)
  | ({ readonly type: 'days' } & Bounded)
  | { readonly type: 'number'; readonly amount: number }
  | ({ readonly type: 'phone' } & Pick<PhonePlace, 'country' | 'operator'>)
  | { readonly type: 'iccid' }
  /** A word without a meaning here. */
  | { readonly type: 'word' }
  /** What no offer tells. */
  | { readonly type: 'context' }

export type Part<S extends Said = Said> = S &
  Span & {
    /** As it is written, but for digits that no answer repeats. */
    readonly text: string
    /** Whether it is what is not wanted: "not Germany". */
    readonly isExcluded: boolean
  }

export interface Reading {
  /** The text of which the parts say where they are. */
  readonly text: string
  /** In the order of the text. Words such as "the" and "please" are in none. */
  readonly parts: readonly Part[]
}

/** What a caller gave besides the text. */
export interface Beside {
  readonly kind?: Kind | undefined
  readonly country?: string | undefined
}

/** The parts of a certain type. */
export function partsOf<T extends Said['type']>(
  { parts }: Pick<Reading, 'parts'>,
  ...types: readonly T[]
): Part<Extract<Said, { type: T }>>[] {
  return parts.filter((part): part is Part<Extract<Said, { type: T }>> =>
    types.some((type) => type === part.type),
  )
}

/** Reads a question once from left to right. The work grows only with its length, which is bounded. */
export function readQuestion(
  written: string,
  indexes: Indexes,
  { kind, country }: Beside = {},
): Reading {
  const text = withoutFlags(oneLine(written))
  const iccid = iccidIn(text)
  const isLine = iccid === undefined && (kind === undefined || kind === 'topup')
  const read = (...numbers: readonly Part[]) => readAround(text, numbers, kind, indexes)
  if (iccid !== undefined) return read(partAt(iccid, 'ICCID', { type: 'iccid' }))
  const phone = readPhonePlace(text, isLine ? country : undefined)
  if (phone !== undefined) return read(phonePart(phone))
  const bare = bareNumberIn(text)
  if (bare === undefined) return read()
  const hidden = read(partAt(bare, 'phone number', { type: 'context' }))
  const [named, ...others] = partsOf(hidden, 'country')
  // The words may name the country of a number that has no code: "0803 123 4567 nigeria".
  const local =
    isLine && named !== undefined && others.length === 0
      ? readPhonePlace(text, named.code)
      : undefined
  return local?.isValid ? read(phonePart(local)) : hidden
}

function partAt({ from, to }: Span, text: string, said: Said): Part {
  return { ...said, from, to, text, isExcluded: false }
}

function phonePart({ from, to, country, operator }: PhonePlace): Part {
  return partAt({ from, to }, 'phone number', { type: 'phone', country, operator })
}

interface Reader {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly words: Vocabulary
  readonly lexicons: Readonly<Record<Kind, BrandLexicon>>
  /** The kinds that are named or given. */
  readonly kinds: ReadonlySet<Kind>
  readonly parts: Part[]
  /** Parts of names and misspelled names, which may be other words. */
  readonly unsure: Part<Extract<Said, { type: 'brand' }>>[]
  bound: { readonly from: number; readonly is: 'most' | 'least' } | undefined
  /** "Not", until what it is about. Behind that, only a list goes on. */
  not: (Span & { isUsed: boolean }) | undefined
}

function readAround(
  text: string,
  numbers: readonly Part[],
  kind: Kind | undefined,
  indexes: Indexes,
): Reading {
  const words = vocabulary()
  const lexicons = byKind((one) => brandLexicon(indexes[one]))
  const isKnown = (phrase: string) =>
    words.joined.has(phrase) ||
    words.units.has(phrase) ||
    kinds.some((one) => lexicons[one].joined.has(phrase))
  const tokens = tokensOf(text, isKnown).filter(
    ({ from, to }) => !numbers.some((number) => from < number.to && to > number.from),
  )
  const reader: Reader = {
    text,
    tokens,
    words,
    lexicons,
    kinds: kind === undefined ? kindsNamed(tokens, words) : new Set([kind]),
    parts: [...numbers],
    unsure: [],
    bound: undefined,
    not: undefined,
  }
  for (let at = 0; at < tokens.length; ) at += takeAt(reader, at)
  endNot(reader)
  settle(reader)
  return { text, parts: reader.parts.sort((one, other) => one.from - other.from) }
}

function kindsNamed(tokens: readonly Token[], { meanings }: Vocabulary): Set<Kind> {
  const named = new Set<Kind>()
  for (let at = 0; at < tokens.length; at++) {
    for (let size = Math.min(3, tokens.length - at); size > 0; size--) {
      const meaning = meanings.get(phraseAt(tokens, at, size))
      if (meaning?.type === 'kind') named.add(meaning.kind)
    }
  }
  return named
}

/** Takes what begins with this token. Returns how many tokens it has. */
function takeAt(reader: Reader, at: number): number {
  const { tokens } = reader
  const { gap } = tokens[at] as Token
  if (/[.;:!?]\s/.test(gap) || (gap.includes(',') && !reader.not?.isUsed)) endNot(reader)
  const amount = amountAt(reader, at)
  if (amount !== undefined) return takeAmount(reader, at, amount)
  for (let size = Math.min(longestPhrase, tokens.length - at); size > 0; size--) {
    const taken = takePhrase(reader, at, size)
    if (taken !== undefined) return taken
  }
  return takeUnclear(reader, at) ?? takeUnknown(reader, at)
}

function add(reader: Reader, at: number, size: number, said: Said): number {
  const { text, tokens, parts } = reader
  const { not } = reader
  const isExcluded = not !== undefined && isExcludable.has(said.type)
  const own = (tokens[at] as Token).from
  const from = isExcluded && !not.isUsed ? not.from : own
  const { to } = tokens[at + size - 1] as Token
  parts.push({ ...said, from, to, text: text.slice(from, to), isExcluded })
  if (isExcluded) not.isUsed = true
  else endNot(reader)
  reader.bound = undefined
  return size
}

function spanOf({ tokens }: Reader, at: number, size: number): Span {
  return { from: (tokens[at] as Token).from, to: (tokens[at + size - 1] as Token).to }
}

/** "Not" that was about nothing that can be excluded is no part of what is understood. */
function endNot(reader: Reader): void {
  const { text, not, parts } = reader
  reader.not = undefined
  if (not === undefined || not.isUsed) return
  parts.push(partAt(not, text.slice(not.from, not.to), { type: 'context' }))
}

const isExcludable: ReadonlySet<Said['type']> = new Set([
  'brand',
  'country',
  'region',
  'kind',
  'use',
])

/** Takes an amount with the words before and behind it that say whether it is a bound. */
function takeAmount(reader: Reader, at: number, amount: Amount): number {
  const { tokens } = reader
  const { type, currencies } = amount
  if (type === 'other') return add(reader, at, amount.end - at, { type: 'context' })
  const behind = reader.bound === undefined ? boundBehind(reader, amount.end) : undefined
  const isLeast = amount.type === 'money' && /^from$/.test(tokens[at - 1]?.word ?? '')
  const bound = reader.bound?.is ?? behind?.is ?? (isLeast ? 'least' : undefined)
  const begin = reader.bound?.from ?? tokens[isLeast ? at - 1 : at]?.from ?? 0
  const end = behind?.end ?? amount.end
  const { to } = tokens[end - 1] as Token
  const bounds = boundsOf(amount, bound)
  const said: Said = type === 'money' ? { type, currencies, ...bounds } : { type, ...bounds }
  reader.parts.push(partAt({ from: begin, to }, reader.text.slice(begin, to), said))
  reader.bound = undefined
  endNot(reader)
  return end - at
}

function boundsOf({ type, amount, low }: Amount, bound: 'most' | 'least' | undefined): Bounded {
  if (bound !== undefined) return { [bound]: amount }
  if (low === undefined) return type === 'money' ? { exact: amount } : { least: amount }
  // A plan for "7-10 days" must last for ten.
  return type === 'days' ? { least: amount } : { least: low, most: amount }
}

/** A bound behind an amount: "20 dollars or less". One before another amount is of that: "5 GB, max 10 dollars". */
function boundBehind(
  reader: Reader,
  at: number,
): { readonly is: 'most' | 'least'; readonly end: number } | undefined {
  const { tokens, words } = reader
  for (let size = Math.min(3, tokens.length - at); size > 0; size--) {
    const meaning = words.meanings.get(phraseAt(tokens, at, size))
    if (meaning?.type !== 'bound' || meaning.isNegatable) continue
    const end = at + size
    const isOfNext = tokens[end]?.isNumber === true || amountAt(reader, end) !== undefined
    return isOfNext && !meaning.isBehind ? undefined : { is: meaning.bound, end }
  }
  return undefined
}

function takePhrase(reader: Reader, at: number, size: number): number | undefined {
  const phrase = phraseAt(reader.tokens, at, size)
  const meaning = reader.words.meanings.get(phrase)
  const brands = brandsIn(reader, 'whole', phrase)
  if (brands !== undefined && isName(reader, { at, size, brands, meaning })) {
    return add(reader, at, size, { type: 'brand', brands })
  }
  const code = size === 1 ? codeOf(reader, at) : undefined
  if (code !== undefined) return add(reader, at, size, { type: 'country', code })
  if (meaning !== undefined) return takeMeaning(reader, at, size, meaning)
  return takeJoined(reader, at, size, phrase.replaceAll(' ', ''))
}

/** Shorter names can result from small words by chance. */
const minJoinedLength = 6

/** Takes a phrase that is written in parts, or in one word though its name has several. */
function takeJoined(reader: Reader, at: number, size: number, text: string): number | undefined {
  if (text.length < (size === 1 ? 4 : minJoinedLength)) return undefined
  const brands = brandsIn(reader, 'joined', text)
  if (brands !== undefined) return add(reader, at, size, { type: 'brand', brands })
  const meaning = reader.words.joined.get(text)
  const isFiller = meaning?.type === 'filler' && size > 1
  return meaning === undefined || isFiller ? undefined : takeMeaning(reader, at, size, meaning)
}

interface Named {
  readonly at: number
  readonly size: number
  readonly brands: Brands
  readonly meaning: Meaning | undefined
}

/** Whether a phrase is the name of brands, and does not more likely mean something else. */
function isName({ tokens, kinds: wanted }: Reader, { at, size, brands, meaning }: Named): boolean {
  if (meaning?.type === 'kind' || areLetters(tokens.slice(at, at + size))) return false
  if (meaning === undefined) return true
  const isWanted = wanted.size === 0 || [...wanted].some((kind) => brands[kind].length > 0)
  return isWanted && (tokens.length <= 2 || size > 1 || !isGrammar.has(meaning.type))
}

const isGrammar: ReadonlySet<Meaning['type']> = new Set([
  'filler',
  'join',
  'not',
  'bound',
  'context',
])

/** Single letters or digits in a row are a name only with its sign between them: "H&M", but not "1=1". */
function areLetters(tokens: readonly Token[]): boolean {
  const [, ...rest] = tokens
  return (
    rest.length > 0 &&
    tokens.every(({ word }) => word.length === 1) &&
    rest.some(({ gap }) => !/^(?:|\s*[&+]\s*)$/.test(gap))
  )
}

function takeMeaning(reader: Reader, at: number, size: number, meaning: Meaning): number {
  const { tokens } = reader
  switch (meaning.type) {
    case 'filler':
      if (reader.not?.isUsed) reader.not = undefined
      return size
    case 'join':
      return size
    case 'not':
      endNot(reader)
      reader.not = { ...spanOf(reader, at, size), isUsed: false }
      return size
    case 'bound':
      return takeBound(reader, at, size, meaning)
    case 'device': {
      // The number of a device is part of its name: "iphone 15".
      const isNumbered = tokens[at + size]?.isNumber === true
      return add(reader, at, isNumbered ? size + 1 : size, meaning)
    }
    default:
      return add(reader, at, size, meaning)
  }
}

function takeBound(
  reader: Reader,
  at: number,
  size: number,
  { bound, isNegatable }: Extract<Meaning, { type: 'bound' }>,
): number {
  const { not } = reader
  const isNegated = isNegatable && not !== undefined && !not.isUsed
  if (isNegated) reader.not = undefined
  const other = bound === 'most' ? 'least' : 'most'
  const from = isNegated ? not.from : (reader.tokens[at] as Token).from
  reader.bound = { from, is: isNegated ? other : bound }
  return size
}

/** Takes a part of a name, or a misspelled one. */
function takeUnclear(reader: Reader, at: number): number | undefined {
  const { tokens, words } = reader
  if (words.everyday.has(tokens[at]?.word ?? '')) return undefined
  const left = tokens.length - at
  for (let size = Math.min(4, left); size > 0; size--) {
    if (areLetters(tokens.slice(at, at + size))) continue
    const brands = brandsIn(reader, 'parts', phraseAt(tokens, at, size))
    if (brands !== undefined) return addUnsure(reader, at, size, brands)
  }
  for (let size = Math.min(3, left); size > 0; size--) {
    const taken = takeMisspelled(reader, at, size)
    if (taken !== undefined) return taken
  }
  return undefined
}

/** Takes a misspelled name. A word that is a brand by itself must be a part of that name: "gogle play". */
function takeMisspelled(reader: Reader, at: number, size: number): number | undefined {
  const words = phraseAt(reader.tokens, at, size).split(' ')
  const text = words.join('')
  if (text.length < 4 || /\d{3}/.test(text)) return undefined
  const right = words.filter((word) => words.length > 1 && brandsIn(reader, 'whole', word))
  const [code] = right.length === 0 && text.length > 5 ? alike(reader.words.places, text) : []
  if (code !== undefined) return add(reader, at, size, { type: 'country', code })
  const brands = byKind((kind) =>
    brandsLike(reader.lexicons[kind], text).filter((brand) => {
      const name = wordsOf(reader.lexicons[kind].nameOf(brand))
      return name.length > right.length && right.every((word) => name.includes(word))
    }),
  )
  return areSome(brands) ? addUnsure(reader, at, size, brands) : undefined
}

function takeUnknown(reader: Reader, at: number): number {
  const { word, isNumber, gap } = reader.tokens[at] as Token
  if (isNumber) return takeNumber(reader, at)
  // Single letters and signs mean nothing by themselves.
  if (/^(?:[a-z]|\P{L})$/u.test(word) || (gap.endsWith('.') && /^(?:com?|org|net)$/.test(word)))
    return 1
  add(reader, at, 1, { type: 'word' })
  reader.parts.push({ ...(reader.parts.pop() as Part), text: word })
  return 1
}

/** A number without a unit. With a bound it is money: "not above 30". */
function takeNumber(reader: Reader, at: number): number {
  const amount = amountIn((reader.tokens[at] as Token).word)
  if (reader.bound === undefined) return add(reader, at, 1, { type: 'number', amount })
  return takeAmount(reader, at, { type: 'money', end: at + 1, amount, currencies: ['USD'] })
}

/** Country codes that are also common words, besides those that the vocabulary knows as words. */
const ambiguous = new Set(
  'ad ai al cc cd dj eh fm gg id io ma mo mr ms ne om pa pm sa sd se si sm st tc tl va'.split(' '),
)
/** Codes of countries whose domains are used for other meanings. */
const anywhere = /^(?:ai|cc|co|fm|gg|io|ly|me|to|tv)$/

/** The country whose code this is: in capitals, at the end of a domain, or where it can hardly be another word. */
function codeOf(reader: Reader, at: number): string | undefined {
  const { tokens, words } = reader
  const { word, isUpper, gap } = tokens[at] as Token
  const code = word.toUpperCase()
  const meaning = words.meanings.get(word)
  // TV is what people watch, and hardly Tuvalu.
  if (!isCountry(code) || meaning?.type === 'use') return undefined
  if (gap === '.' && at > 0) return anywhere.test(word) ? undefined : code
  return isUpper || !isOtherWord(reader, at, meaning) ? code : undefined
}

const beforePronoun = /^(?:for|to|with|of|give|let|by|tell|help)$/

function isOtherWord({ tokens, words }: Reader, at: number, meaning: Meaning | undefined): boolean {
  const { word } = tokens[at] as Token
  const before = tokens[at - 1]?.word
  if (word === 'us') return before !== undefined && beforePronoun.test(before)
  // Spanish and French "de" stands between words, and French "au" before a country.
  const isLast = tokens.slice(at + 1).every(({ isNumber }) => isNumber)
  if (word === 'de' && at > 0 && isLast) return false
  if (word === 'au') return words.meanings.get(tokens[at + 1]?.word ?? '')?.type === 'country'
  return ambiguous.has(word) || (meaning !== undefined && isGrammar.has(meaning.type))
}

function brandsIn(
  { lexicons }: Reader,
  table: 'whole' | 'joined' | 'parts',
  phrase: string,
): Brands | undefined {
  const brands = byKind((kind) => lexicons[kind][table].get(phrase) ?? [])
  return areSome(brands) ? brands : undefined
}

function areSome(brands: Brands): boolean {
  return kinds.some((kind) => brands[kind].length > 0)
}

function addUnsure(reader: Reader, at: number, size: number, brands: Brands): number {
  add(reader, at, size, { type: 'brand', brands })
  reader.unsure.push(reader.parts.pop() as Part<Extract<Said, { type: 'brand' }>>)
  return size
}

/** Takes the first uncertain brand if nothing speaks against it. Others are unknown words. */
function settle({ unsure, parts }: Reader): void {
  const hasBrand = parts.some(({ type, isExcluded }) => type === 'brand' && !isExcluded)
  for (const [at, part] of unsure.entries()) {
    const isTaken = part.isExcluded || (at === 0 && !hasBrand)
    const { brands: _, ...rest } = part
    parts.push(isTaken ? part : { ...rest, type: 'word', text: part.text.toLowerCase() })
  }
}

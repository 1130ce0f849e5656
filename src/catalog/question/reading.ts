import { wordsOf } from '../../lib/text.ts'
import { isCountry } from '../countries.ts'
import { byKind, kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import { type BrandLexicon, brandLexicon, brandsLike } from '../search/brand-lexicon.ts'
import { alike } from '../search/likenesses.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { hasBareNumber, type PhonePlace, readPhonePlace } from './phone-place.ts'
import { type Quantities, readQuantities } from './quantities.ts'
import { phraseAt, plainText, type Token, tokensOf, wordAt } from './tokens.ts'
import {
  type Category,
  longestPhrase,
  type Meaning,
  type Vocabulary,
  vocabulary,
} from './vocabulary.ts'

export type Indexes = Readonly<Record<Kind, SearchIndex>>

/** Brands by kind, by the supplier's keys. */
export type Brands = Readonly<Record<Kind, readonly string[]>>

/** What a question in plain words was understood to ask for. */
export interface Reading extends Omit<Quantities, 'rest'> {
  /** The kinds that its words name. */
  readonly kinds: readonly Kind[]
  readonly brands: Brands | undefined
  readonly countries: readonly string[]
  readonly regions: readonly (readonly string[])[]
  readonly category: Category | undefined
  readonly hasPhone: boolean
  /** Where the line of the phone number is, and its likely operator. */
  readonly phoneCountry: string | undefined
  readonly phoneOperator: string | undefined
  /** Words without a meaning here. */
  readonly unknown: readonly string[]
  /** Words for properties that no offer tells, such as whether a card is for a subscription. */
  readonly untold: readonly string[]
  /** Numbers without a unit, as digits. */
  readonly numbers: readonly string[]
  /** How many words the text has. */
  readonly length: number
}

/** What a caller gave besides the text. */
export interface Beside {
  readonly kind?: Kind | undefined
  readonly country?: string | undefined
}

export function readQuestion(text: string, indexes: Indexes, { kind, country }: Beside): Reading {
  const plain = plainText(text)
  const read = (phone: PhonePlace | undefined) => readRest(plain, phone, kind, indexes)
  const isLine = kind === undefined || kind === 'topup'
  const reading = read(readPhonePlace(plain, isLine ? country : undefined))
  const [named, ...others] = reading.countries
  if (reading.hasPhone || !hasBareNumber(plain)) return reading
  // The words may name the country of a number that has no code: "0803 123 4567 nigeria".
  const local =
    isLine && named !== undefined && others.length === 0 ? readPhonePlace(plain, named) : undefined
  if (local?.isValid) return read(local)
  // No answer repeats a phone number.
  return { ...reading, numbers: [], untold: [...reading.untold, 'phone number'] }
}

function readRest(
  text: string,
  phone: PhonePlace | undefined,
  kind: Kind | undefined,
  indexes: Indexes,
): Reading {
  const { rest, ...quantities } = readQuantities(phone?.rest ?? text)
  const tokens = tokensOf(rest)
  const found = parse(tokens, kind, indexes)
  return {
    ...quantities,
    ...found,
    hasPhone: phone !== undefined,
    phoneCountry: phone?.country,
    phoneOperator: phone?.operator,
    length: tokens.length,
  }
}

type Parsed = Pick<
  Reading,
  'kinds' | 'brands' | 'countries' | 'regions' | 'category' | 'unknown' | 'untold' | 'numbers'
>

interface State {
  readonly words: Vocabulary
  readonly lexicons: Readonly<Record<Kind, BrandLexicon>>
  readonly kinds: Set<Kind>
  readonly countries: Set<string>
  readonly regions: Set<readonly string[]>
  readonly unknown: string[]
  readonly untold: string[]
  readonly numbers: string[]
  brands: Brands | undefined
  category: Category | undefined
  unsure: { readonly brands: Brands; readonly phrase: string } | undefined
  hasPhone: boolean
}

function parse(tokens: readonly Token[], kind: Kind | undefined, indexes: Indexes): Parsed {
  const state: State = {
    words: vocabulary(),
    lexicons: byKind((one) => brandLexicon(indexes[one])),
    kinds: new Set(),
    countries: new Set(),
    regions: new Set(),
    unknown: [],
    untold: [],
    numbers: [],
    brands: undefined,
    category: undefined,
    unsure: undefined,
    hasPhone: false,
  }
  const asked = kind === undefined ? kindsNamed(tokens, state.words) : new Set([kind])
  for (let at = 0; at < tokens.length; ) at += takePhrase(tokens, at, asked, state)
  settle(state, tokens.length)
  const { brands, category, unknown, untold, numbers } = state
  return {
    brands,
    category,
    unknown,
    untold,
    numbers,
    kinds: [...state.kinds],
    countries: [...state.countries],
    regions: [...state.regions],
  }
}

function kindsNamed(tokens: readonly Token[], { meanings }: Vocabulary): Set<Kind> {
  const named = new Set<Kind>()
  for (let at = 0; at < tokens.length; at++) {
    for (let size = 2; size > 0; size--) {
      const meaning = meanings.get(phraseAt(tokens, at, size))
      if (meaning?.type === 'kind') named.add(meaning.kind)
    }
  }
  return named
}

/** Understands the longest known phrase that begins here. Returns how many words it has. */
function takePhrase(
  tokens: readonly Token[],
  at: number,
  asked: ReadonlySet<Kind>,
  state: State,
): number {
  for (let size = Math.min(longestPhrase, tokens.length - at); size > 0; size--) {
    const taken = takeSized(tokens, at, { size, asked }, state)
    if (taken !== undefined) return taken
  }
  return takeUnclear(tokens, at, state) ?? takeUnknown(wordAt(tokens, at), state)
}

function takeSized(
  tokens: readonly Token[],
  at: number,
  { size, asked }: { readonly size: number; readonly asked: ReadonlySet<Kind> },
  state: State,
): number | undefined {
  const phrase = phraseAt(tokens, at, size)
  const isAlone = tokens.length <= 2 || size > 1
  if (takeKnown(phrase, { asked, isAlone }, state)) return size
  const code = size === 1 ? codeOf(tokens, at, state.words) : undefined
  if (code !== undefined) return takeCode(tokens, at, code, state)
  const meaning = state.words.meanings.get(phrase)
  if (meaning === undefined) return undefined
  if (meaning.type === 'filler') return takeParted(tokens, at, state) ?? size
  addMeaning(state, meaning)
  // The number of a device is part of its name: "iphone 15".
  const hasNumber = meaning.type === 'device' && /^\d+$/.test(tokens[at + size]?.word ?? '')
  return hasNumber ? size + 1 : size
}

/** Takes a brand that is written in parts, the first of which has no meaning by itself: "play station". */
function takeParted(tokens: readonly Token[], at: number, state: State): number | undefined {
  return bySize(tokens, at, (phrase, size) => {
    const name = phrase.replaceAll(' ', '')
    if (size === 1 || name.length < minJoinedLength) return false
    const brands = brandsIn(state.lexicons, ({ joined }) => joined.get(name))
    if (brands !== undefined) addBrands(state, brands)
    return brands !== undefined
  })
}

/** Shorter names can result from small words by chance. */
const minJoinedLength = 6

/** Takes a brand of this name, unless the phrase more likely means something else. */
function takeKnown(
  phrase: string,
  { asked, isAlone }: { readonly asked: ReadonlySet<Kind>; readonly isAlone: boolean },
  state: State,
): boolean {
  const brands = brandsIn(state.lexicons, ({ whole }) => whole.get(phrase))
  if (brands === undefined) return false
  const meaning = state.words.meanings.get(phrase)
  // A brand may be called after its kind: "eSIM".
  if (meaning?.type === 'kind') return false
  if (meaning !== undefined && !hasAny(brands, asked)) return false
  if (meaning?.type === 'filler' && !isAlone) return false
  addBrands(state, brands)
  return true
}

/** Takes a phrase that is not written as it is known: in one word or in parts, or misspelled. */
function takeUnclear(tokens: readonly Token[], at: number, state: State): number | undefined {
  const joined = bySize(tokens, at, (phrase, size) =>
    takeJoined(phrase.replaceAll(' ', ''), size, state),
  )
  if (joined !== undefined || state.words.everyday.has(wordAt(tokens, at))) return joined
  return (
    bySize(tokens, at, (phrase) => takePart(phrase, state)) ??
    takeUnspaced(wordAt(tokens, at), state) ??
    bySize(tokens, at, (phrase, size) => size < 4 && takeMisspelled(phrase, state))
  )
}

/** The size of the longest phrase that `take` accepts. */
function bySize(
  tokens: readonly Token[],
  at: number,
  take: (phrase: string, size: number) => boolean,
): number | undefined {
  for (let size = Math.min(4, tokens.length - at); size > 0; size--) {
    if (take(phraseAt(tokens, at, size), size)) return size
  }
  return undefined
}

function takeJoined(text: string, size: number, state: State): boolean {
  if (text.length < 4) return false
  const brands = brandsIn(state.lexicons, ({ joined }) => joined.get(text))
  const meaning = state.words.unspaced.get(text)
  if (brands !== undefined) addBrands(state, brands)
  else if (meaning !== undefined && (size === 1 || meaning.type !== 'filler')) {
    addMeaning(state, meaning)
  } else return false
  return true
}

function takePart(phrase: string, state: State): boolean {
  const brands = brandsIn(state.lexicons, ({ parts }) => parts.get(phrase))
  if (brands !== undefined) addUnsure(state, brands, phrase)
  return brands !== undefined
}

/** Takes a misspelled name. A word that is a brand by itself must be a part of that name: "gogle play". */
function takeMisspelled(phrase: string, state: State): boolean {
  const words = phrase.split(' ')
  const text = words.join('')
  if (text.length < 4 || /\d{3}/.test(text)) return false
  const right = words.length > 1 ? words.filter((word) => isName(word, state)) : []
  const [place] = right.length === 0 && text.length > 5 ? alike(state.words.places, text) : []
  if (place !== undefined) {
    state.countries.add(place)
    return true
  }
  const brands = brandsIn(state.lexicons, (lexicon) =>
    brandsLike(lexicon, text).filter((code) => {
      const name = wordsOf(lexicon.nameOf(code))
      return name.length > right.length && right.every((word) => name.includes(word))
    }),
  )
  if (brands !== undefined) addUnsure(state, brands, phrase)
  return brands !== undefined
}

/** Whether a word is the name of a brand. */
function isName(word: string, { lexicons }: State): boolean {
  return brandsIn(lexicons, ({ whole }) => whole.get(word)) !== undefined
}

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]/u

/** Takes the longest known parts, from left to right, of writing without spaces such as Japanese. */
function takeUnspaced(word: string, state: State): number | undefined {
  if (!unspacedScripts.test(word)) return undefined
  let isKnown = false
  for (let from = 0; from < word.length; ) {
    const size = takePrefix(word.slice(from), state)
    if (size > 0) isKnown = true
    from += Math.max(1, size)
  }
  return isKnown ? 1 : undefined
}

function takePrefix(text: string, state: State): number {
  for (let size = text.length; size > 0; size--) {
    const part = text.slice(0, size)
    const meaning = state.words.unspaced.get(part)
    const brands = brandsIn(state.lexicons, ({ joined }) => joined.get(part))
    if (brands !== undefined) addBrands(state, brands)
    else if (meaning !== undefined) addMeaning(state, meaning)
    else continue
    return size
  }
  return 0
}

/** Country codes that are also common words, besides those that the vocabulary knows as words. */
const ambiguous = new Set(
  'ad ai al cc cd dj eh fm gg id io ma mo mr ms ne om pa pm sa sd se si sm st tc tl va'.split(' '),
)

/** The country whose code this is: in capitals, or where it can hardly be another word. */
function codeOf(
  tokens: readonly Token[],
  at: number,
  { meanings }: Vocabulary,
): string | undefined {
  const { word, isUpper } = tokens[at] as Token
  const code = word.toUpperCase()
  // TV is what people watch, and hardly Tuvalu.
  if (!isCountry(code) || meanings.get(word)?.type === 'category') return undefined
  return isUpper || !isOtherWord(tokens, at, meanings) ? code : undefined
}

/** A code in small letters may be the beginning of a brand: "mc donalds". */
function takeCode(tokens: readonly Token[], at: number, code: string, state: State): number {
  const parted = tokens[at]?.isUpper ? undefined : takeParted(tokens, at, state)
  if (parted === undefined) state.countries.add(code)
  return parted ?? 1
}

const beforePronoun = /^(?:for|to|with|of|give|let|by|tell|help)$/

function isOtherWord(
  tokens: readonly Token[],
  at: number,
  meanings: Vocabulary['meanings'],
): boolean {
  const word = wordAt(tokens, at)
  const before = tokens[at - 1]?.word
  if (word === 'us') return before !== undefined && beforePronoun.test(before)
  // Spanish and French "de" stands between words, and French "au" before a country.
  const isLast = tokens.slice(at + 1).every((token) => /^\d+$/.test(token.word))
  if (word === 'de' && at > 0 && isLast) return false
  if (word === 'au') return meanings.get(tokens[at + 1]?.word ?? '')?.type === 'country'
  return ambiguous.has(word) || meanings.get(word)?.type === 'filler'
}

const none: readonly string[] = []

function brandsIn(
  lexicons: State['lexicons'],
  find: (lexicon: BrandLexicon) => readonly string[] | undefined,
): Brands | undefined {
  const found = kinds.map((kind) => find(lexicons[kind]) ?? none)
  if (found.every((codes) => codes.length === 0)) return undefined
  return byKind((kind) => found[kinds.indexOf(kind)] ?? none)
}

function hasAny(brands: Brands, asked: ReadonlySet<Kind>): boolean {
  return asked.size === 0 || [...asked].some((kind) => brands[kind].length > 0)
}

/** Adds brands. If some were found before, those that both have in common count, or else all of them. */
function addBrands(state: State, brands: Brands): void {
  const before = state.brands
  if (before === undefined) {
    state.brands = brands
    return
  }
  const shared = (kind: Kind) => before[kind].filter((code) => brands[kind].includes(code))
  const both = byKind(shared)
  if (kinds.some((kind) => both[kind].length > 0)) state.brands = both
  else state.brands = byKind((kind) => [...before[kind], ...brands[kind]])
}

/** Notes a part of a name or a misspelled name, which may be another word if the text has other unknown words. */
function addUnsure(state: State, brands: Brands, phrase: string): void {
  state.unsure ??= { brands, phrase }
}

/** Decides what depends on the whole text. */
function settle(state: State, length: number): void {
  takeUnsure(state, length)
  const { kinds: named, brands, category, hasPhone } = state
  if (hasPhone && named.size === 0 && (brands ?? category) === undefined) named.add('topup')
}

/** Takes the uncertain brand if nothing speaks against it. */
function takeUnsure(state: State, length: number): void {
  const { unsure, unknown, kinds: named, countries } = state
  if (unsure === undefined || state.brands !== undefined) return
  const { phrase, brands } = unsure
  // "1=1" becomes such words, and so does "1&1".
  const isSigns = /^(?:\w )+\w$/.test(phrase) && length > phrase.split(' ').length
  if (isSigns && named.size + countries.size === 0) return
  if (unknown.length < 2) state.brands = brands
  else unknown.push(...phrase.split(' '))
}

function addMeaning(state: State, meaning: Meaning): void {
  if (meaning.type === 'country') state.countries.add(meaning.code)
  else if (meaning.type === 'region') state.regions.add(meaning.countries)
  else if (meaning.type === 'category') state.category ??= meaning.category
  else if (meaning.type === 'kind') state.kinds.add(meaning.kind)
  else if (meaning.type === 'untold') state.untold.push(meaning.word)
  else if (meaning.type === 'device') state.hasPhone ||= meaning.isPhone
}

/** Notes a number, or an unknown word. Single letters mean nothing by themselves. */
function takeUnknown(word: string, { unknown, numbers }: State): number {
  if (/^\d+$/.test(word)) numbers.push(word)
  else if (!/^[a-z]$/.test(word) && !unknown.includes(word)) unknown.push(word)
  return 1
}

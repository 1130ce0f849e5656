import { fold } from '../../lib/text.ts'

/** A word, a number or a sign of a question. */
export interface Token {
  /** Folded. */
  readonly word: string
  /** Where it is in the text. */
  readonly from: number
  readonly to: number
  /** What stands between it and the token before it. */
  readonly gap: string
  readonly isNumber: boolean
  readonly isUpper: boolean
}

/** The text in which codes of countries stand for flags, which are pairs of regional indicator letters. */
export function withoutFlags(text: string): string {
  const letter = (sign: string) =>
    String.fromCharCode((sign.codePointAt(0) as number) - 0x1f1e6 + 65)
  return text.replace(/[\u{1f1e6}-\u{1f1ff}]{2}/gu, (flag) => ` ${[...flag].map(letter).join('')} `)
}

/** A number, a run of letters of scripts that are written without spaces or of others, or a sign. */
const pattern =
  /\d+(?:[.,]\d+)*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+|[[\p{L}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]]+|\p{Sc}|[<>]=?|[≤≥]/gv
const isUnspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u

/**
 * The tokens of a text.
 *
 * @param isKnown whether a phrase has a meaning, to part writing without spaces such as Japanese
 */
export function tokensOf(text: string, isKnown: (phrase: string) => boolean): Token[] {
  const tokens: Token[] = []
  let from = 0
  for (const part of partsOf(text, isKnown)) {
    from = text.indexOf(part, from)
    const to = from + part.length
    const gap = text.slice(tokens.at(-1)?.to ?? 0, from)
    const isUpper = /^[A-Z]{2,3}$/.test(part)
    tokens.push({ word: fold(part), from, to, gap, isNumber: /^\d/.test(part), isUpper })
    from = to
  }
  return tokens.filter(({ word }) => word !== '')
}

function* partsOf(text: string, isKnown: (phrase: string) => boolean): Generator<string> {
  for (const [written] of text.matchAll(pattern)) {
    if (isUnspaced.test(written)) yield* partsOfUnspaced(written, isKnown)
    else yield written
  }
}

/** The longest known parts from left to right, and what is between them. */
function* partsOfUnspaced(
  written: string,
  isKnown: (phrase: string) => boolean,
): Generator<string> {
  let begin = 0
  for (let at = 0; at < written.length; at++) {
    const size = knownSize(written.slice(at, at + longestPart), isKnown)
    if (size === 0) continue
    if (begin < at) yield written.slice(begin, at)
    begin = at + size
    yield written.slice(at, begin)
    at = begin - 1
  }
  if (begin < written.length) yield written.slice(begin)
}

/** No part is longer, so that the work grows only with the length of the text. */
const longestPart = 14

function knownSize(text: string, isKnown: (phrase: string) => boolean): number {
  const folded = text.split('').map(fold)
  let size = folded.length
  while (size > 0 && !isKnown(folded.slice(0, size).join(''))) size -= 1
  return size
}

/** The tokens from `at` on as one phrase: with single spaces where something stands between them. */
export function phraseAt(tokens: readonly Token[], at: number, size: number): string {
  let phrase = tokens[at]?.word ?? ''
  for (const { word, gap } of tokens.slice(at + 1, at + size)) {
    phrase += gap === '' ? word : ` ${word}`
  }
  return phrase
}

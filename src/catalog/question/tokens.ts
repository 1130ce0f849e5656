import { fold } from '../../lib/text.ts'

/** A word or number of a question, folded. */
export interface Token {
  readonly word: string
  readonly isUpper: boolean
}

const maxTokens = 60

/** The text of a question in one line, in which codes of countries stand for flags and for the ends of domains. */
export function plainText(text: string): string {
  const inLine = text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
  return withDomains(withFlags(romance.test(inLine) ? inLine.replace(ofAmount, '') : inLine))
}

/** Words of Spanish, Portuguese, French and Italian for what is sold here. */
const romance =
  /(?<!\p{L})(?:tarjetas?|cart[ea]s?|cart[aã]o|cart(?:ões|oes)|recargas?|recharges?|ricarica|cr[eé]dito?s?|saldo|vale|bons?|buono|regalo|cadeau|presente)(?!\p{L})/iu
/** There, "de" before an amount means "of" and not Germany: "tarjeta steam de 20 euros". */
const ofAmount = /(?<=\s)de (?=[\d$€£])/g

/** Replaces each flag by its country's code: a flag is a pair of regional indicator letters. */
function withFlags(text: string): string {
  const letter = (sign: string) =>
    String.fromCharCode((sign.codePointAt(0) as number) - 0x1f1e6 + 65)
  return text.replace(/[\u{1f1e6}-\u{1f1ff}]{2}/gu, (flag) => ` ${[...flag].map(letter).join('')} `)
}

/** Replaces the end of each domain by the code of its country: "amazon.it" is Amazon in Italy. */
function withDomains(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N}])\.(?:com?\.)?([a-z]{2})(?![\p{L}\p{N}])/giu, (end, code) =>
    anywhere.test(code) ? end : ` ${code.toUpperCase()} `,
  )
}

/** Codes of countries whose domains are used for other meanings. */
const anywhere = /^(?:ai|cc|co|fm|gg|io|ly|me|to|tv)$/i

const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  к: 'k',
  м: 'm',
  т: 't',
  в: 'b',
  н: 'h',
  ο: 'o',
  α: 'a',
  ρ: 'p',
  ν: 'v',
  τ: 't',
  ι: 'i',
  ε: 'e',
}

/** Folds a word. One that mixes alphabets gets its Latin letters back for the lookalikes. */
function wordOf(text: string): string {
  const word = fold(text)
  if (!(/[a-z]/.test(word) && /[а-яіѕα-ω]/.test(word))) return word
  return word.replace(/[а-яіѕα-ω]/g, (each) => lookalikes[each] ?? each)
}

/** At most 60 words; in numbers, without separators of thousands and zeros behind the point. */
export function tokensOf(text: string): Token[] {
  const words =
    text
      .replace(/(?<=\d)(?:[.,](?=\d{3}(?!\d))|[.,]00?(?!\d))/g, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const isShouting = text === text.toUpperCase() && words.length > 2
  const tokens: Token[] = []
  for (const each of words.slice(0, maxTokens)) {
    const word = wordOf(each)
    if (word !== '') tokens.push({ word, isUpper: !isShouting && /^[A-Z]{2,3}$/.test(each) })
  }
  return tokens
}

/** Some words in a row. */
export function phraseAt(tokens: readonly Token[], at: number, size: number): string {
  let phrase = (tokens[at] as Token).word
  for (let next = at + 1; next < at + size && next < tokens.length; next++) {
    phrase += ` ${(tokens[next] as Token).word}`
  }
  return phrase
}

export function wordAt(tokens: readonly Token[], at: number): string {
  return (tokens[at] as Token).word
}

import { currenciesNamed, currencyPatterns } from './currency-words.ts'

/** The amounts in a question, and its text without them. */
export interface Quantities {
  readonly rest: string
  /** Infinity asks for unlimited data. */
  readonly minDataGb?: number
  readonly minDays?: number
  readonly maxDays?: number
  /** The data and days as they are written, for an answer that cannot take them into account. */
  readonly said?: readonly string[]
  /** What a purchase may cost at most, and at least. */
  readonly budget?: Money
  readonly atLeast?: Money
  /** The value that the card or the line should receive. */
  readonly value?: Money
}

export interface Money {
  readonly amount: number
  /** The ISO 4217 codes of the currencies that it may be in, the likeliest first. */
  readonly currencies: readonly string[]
  /** As it is written, with its words. */
  readonly said: string
}

const spelled: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  fourteen: 14,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  couple: 2,
  few: 3,
}
const digits = String.raw`\d{1,7}(?:[.,]\d{1,3})*`
const number = `(${digits}|(?<![\\p{L}])(?:${Object.keys(spelled).join('|')})(?:\\s+of)?(?![\\p{L}]))`

const dataUnits: readonly (readonly [pattern: string, gigabytes: number])[] = [
  [String.raw`(?:gigabytes?|gigas?|gigs?|gib|gb|go|g|гигабайт\p{L}*|гб|ギガ|기가)`, 1],
  ['(?:megabytes?|megas?|megs?|mb|mo|мб)', 1 / 1024],
  ['(?:terabytes?|tb|то)', 1000],
]
const dayUnits: readonly (readonly [pattern: string, days: number])[] = [
  [
    '(?:days?|nights?|d|tagen?|tage|tag|jours?|d[ií]as?|giorn[io]|dagen|dagar|dni|gün|день|дня|дней|日間|日|天|일)',
    1,
  ],
  [
    String.raw`(?:weeks?|wks?|w|wochen?|semaines?|semanas?|settiman[ae]|weken|недел\p{L}*|週間|周|주)`,
    7,
  ],
  [
    String.raw`(?:months?|mos|monate?n?|mois|mes(?:es)?|mesi|mese|maanden|месяц\p{L}*|か月|ヶ月|个月|개월)`,
    30,
  ],
  ['(?:years?|jahre?|ans?|años?)', 365],
]

const { sign, before, behind } = currencyPatterns
const money = `(?:(?<sign>${sign}|${before})\\s*(?<after>${digits})|(?<first>${digits})\\s*(?<unit>${behind}))`
const lowest = `(?:${sign})?\\s*(?<low>${digits})\\s*(?:${behind})?\\s*`
const below = String.raw`(?:(?:for\s+)?(?:under|below|less\s+than|lower\s+than|up\s+to|at\s+most|no\s+more\s+than|not\s+more\s+than|not\s+over|cheaper\s+than|maximum(?:\s+of)?|max\.?|within|budget(?:\s+(?:of|is))?:?|unter|bis(?:\s+zu)?|moins\s+de|menos\s+de|hasta|meno\s+di|até|до|<=?|≤))`
const above = String.raw`(?:over|above|more\s+than|at\s+least|from|minimum(?:\s+of)?|min\.?|>=?|≥)`
const atMostBehind = String.raw`(?:\s*(?:or\s+less|or\s+under|max(?:imum)?|at\s+most|budget|tops|or\s+cheaper))`

const upper = {
  data: dataUnits.map(([pattern, size]) => [unitPattern(pattern), size] as const),
  days: dayUnits.map(([pattern, size]) => [unitPattern(pattern), size] as const),
}
const patterns = {
  unlimited:
    /(?<![\p{L}])(?:unlimited|limitless|ilimitad[oa]s?|illimit[eé]e?s?|illimitat[oaie]|unbegrenzt\p{L}*|onbeperkt|безлимит\p{L}*)(?![\p{L}])|無制限|无限|무제한/iu,
  relative:
    /(?<![\p{L}])(?:next|this|last|coming)\s+(?:week|weekend|month|year|summer|winter)(?![\p{L}])/giu,
  fortnight: /(?<![\p{L}])(?:a\s+)?fortnight(?![\p{L}])/iu,
  weekend: /(?<![\p{L}])(?:a\s+|long\s+)?weekend(?![\p{L}])/iu,
  /** What games sell: an amount of it is no value of a card. Its name may be that of a brand. */
  inGame:
    /(?<![\d.,])(\d[\d.,]*)\s*(?=((?:robux|v-?bucks|minecoins|uc|diamonds?|points?|coins?|gems?|credits?|cp|vp)(?![\p{L}])))/iu,
  between: new RegExp(`(?:between|from)\\s+${lowest}(?:and|to|[-–])\\s*${money}`, 'iu'),
  range: new RegExp(`(?<![\\d.,-])${lowest}(?:to|[-–])\\s*${money}`, 'iu'),
  budget: new RegExp(`${below}\\s*${money}`, 'iu'),
  budgetBehind: new RegExp(`${money}${atMostBehind}`, 'iu'),
  above: new RegExp(`${above}\\s*${money}`, 'iu'),
  value: new RegExp(money, 'iu'),
} as const

function unitPattern(words: string): RegExp {
  return new RegExp(
    `(?<limit>${below}\\s+)?(?<![\\d.,])${number}\\s*-?\\s*${words}(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\d])(?<behind>${atMostBehind})?`,
    'iu',
  )
}

/** Reads the numbers that have a unit, and removes them from the text. */
export function readQuantities(text: string): Quantities {
  const left = { text }
  const found: { -readonly [Name in keyof Quantities]?: Quantities[Name] } = {}
  const between = take(left, patterns.between) ?? take(left, patterns.range)
  if (between?.groups) {
    found.budget = moneyIn(between)
    found.atLeast = { ...found.budget, amount: amountOf(between.groups['low'] as string) }
  }
  readData(left, found)
  readDays(left, found)
  const inGame = take(left, patterns.inGame)
  if (inGame) addSaid(`${inGame[1]} ${inGame[2]}`, found)
  const budget = take(left, patterns.budget) ?? take(left, patterns.budgetBehind)
  if (budget) found.budget = moneyIn(budget)
  const above = take(left, patterns.above)
  if (above) found.atLeast = moneyIn(above)
  const value = take(left, patterns.value)
  if (value) found.value = moneyIn(value)
  return { ...found, rest: left.text }
}

type Found = { -readonly [Name in keyof Quantities]?: Quantities[Name] }

function readData(left: { text: string }, found: Found): void {
  if (take(left, patterns.unlimited)) found.minDataGb = Number.POSITIVE_INFINITY
  for (const [pattern, size] of upper.data) {
    const match = take(left, pattern)
    if (match && found.minDataGb === undefined) {
      found.minDataGb = amountOf(match[2] as string) * size
      addSaid(match[0], found)
    }
  }
}

function readDays(left: { text: string }, found: Found): void {
  if (take(left, patterns.fortnight)) found.minDays = 14
  // "next week" says when, "for a week" how long.
  left.text = left.text.replace(patterns.relative, ' ')
  for (const [pattern, size] of upper.days) {
    const match = take(left, pattern)
    if (match && found.minDays === undefined && found.maxDays === undefined) {
      addDays(match, size, found)
    }
  }
  if (take(left, patterns.weekend)) found.minDays ??= 3
}

function addDays(match: RegExpExecArray, size: number, found: Found): void {
  const days = amountOf(match[2] as string) * size
  addSaid(match[0], found)
  if (match.groups?.['limit'] ?? match.groups?.['behind']) found.maxDays = days
  else found.minDays = days
}

function addSaid(text: string, found: Found): void {
  found.said = [...(found.said ?? []), text.trim()]
}

function take(left: { text: string }, pattern: RegExp): RegExpExecArray | undefined {
  const match = pattern.exec(left.text)
  if (match === null) return undefined
  left.text = `${left.text.slice(0, match.index)} ${left.text.slice(match.index + match[0].length)}`
  return match
}

function moneyIn({ 0: said, groups = {} }: RegExpExecArray): Money {
  return {
    amount: amountOf(groups['after'] ?? groups['first'] ?? ''),
    currencies: currenciesNamed(groups['sign'] ?? groups['unit'] ?? ''),
    said: said.trim(),
  }
}

function amountOf(text: string): number {
  const word = spelled[text.toLowerCase().replace(/\s+of$/, '')]
  if (word !== undefined) return word
  const plain = /^0/.test(text) ? text : text.replace(/[.,](?=\d{3}(?:\D|$))/g, '')
  return Number(plain.replace(',', '.'))
}

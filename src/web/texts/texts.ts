import { readFileSync } from 'node:fs'
import { type FormatXMLElementFn, IntlMessageFormat } from 'intl-messageformat'
import { countryCodes } from '../../catalog/countries.ts'
import { type Html, html } from '../frame/html.ts'
import type en from './en.json'

export type MessageId = keyof typeof en

/** The messages of one language, as its file has them: ICU MessageFormat. */
type Messages = Readonly<Record<MessageId, string>>

/** Names whose messages `.title` and `.text` both exist. */
export type TitledName = {
  [Id in MessageId]: Id extends `${infer Name}.title`
    ? `${Name}.text` extends MessageId
      ? Name
      : never
    : never
}[MessageId]

type Plain = Readonly<Record<string, string | number>>
type Values = Readonly<Record<string, string | number | Html | ((content: Html) => Html)>>

/** Formats every message of the website in one language. */
export interface Texts {
  (id: MessageId, values?: Plain): string
  /** A message with tags becomes markup. */
  (id: MessageId, values: Values): Html
  /** A BCP 47 tag: the `lang` of pages, and the format of numbers, dates and money. */
  readonly language: string
  /** "12,500" */
  number(value: number): string
  /** A message with its values left open, "Pay with {wallet}", for a script to fill in. */
  template(id: MessageId): string
}

/** The website's messages in a language: the one place where a page's language is decided. */
export function textsIn(language: string, messages: Messages = messagesOf(language)): Texts {
  const numbers = new Intl.NumberFormat(language)
  const messageOf = once((id: MessageId) => readMessage(messages[id], language))
  const say = (id: MessageId, values?: Values): Html | string => {
    const message = messageOf(id)
    return typeof message === 'string' ? message : message(values)
  }
  return Object.assign(say as Texts, {
    language,
    number: (value: number) => numbers.format(value),
    template: once((id: MessageId) => say(id, leftOpen) as string),
  })
}

export interface Titled {
  readonly title: string
  readonly text: string
}

export function titled(t: Texts, name: TitledName): Titled {
  return { title: t(`${name}.title`), text: t(`${name}.text`) }
}

export function messagesOf(language: string): Messages {
  return JSON.parse(readFileSync(new URL(`${language}.json`, import.meta.url), 'utf8'))
}

/** A parsed message: a constant text, or a function that inserts values. */
type Message = string | ((values?: Values) => Html | string)

const leftOpen: Values = new Proxy({}, { has: () => true, get: (_, name) => `{${String(name)}}` })

function readMessage(text: string, language: string): Message {
  if (!/[{<']/.test(text)) return text
  const format = new IntlMessageFormat(text, language)
  if (!text.includes('<')) return (values) => format.format(values as Plain) as string
  return (values = {}) => {
    const entries = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'function' ? tagOf(value) : value,
    ])
    return html`${format.format<Html>(Object.fromEntries(entries))}`
  }
}

/** Escapes the text between tags before it is put into one. */
function tagOf(wrap: (content: Html) => Html): FormatXMLElementFn<Html> {
  return (parts) => wrap(html`${parts}`)
}

/** Caches one value for each key for ever. For values that are expensive to make, such as `Intl` formatters. */
export function once<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const results = new Map<Key, Made>()
  return (key) => {
    const there = results.get(key)
    if (there !== undefined) return there
    const made = make(key)
    results.set(key, made)
    return made
  }
}

/** The name of each country by its code, sorted by name. */
export const countryNames = once((language: string): ReadonlyMap<string, string> => {
  const names = new Intl.DisplayNames(language, { type: 'region' })
  const { compare } = new Intl.Collator(language)
  const named = countryCodes().map((code) => [code, names.of(code) ?? code] as const)
  return new Map(named.sort(([, one], [, other]) => compare(one, other)))
})

/** The name of a country in the language of the pages, or its code if no name is known. */
export function countryName(code: string, t: Texts): string {
  return countryNames(t.language).get(code) ?? code
}

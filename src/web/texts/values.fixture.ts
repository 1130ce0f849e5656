import { IntlMessageFormat } from 'intl-messageformat'

/** The parts of a message, as FormatJS numbers them. */
interface Part {
  readonly type: number
  readonly value: string
  readonly options?: Readonly<Record<string, { readonly value: readonly Part[] }>>
  readonly children?: readonly Part[]
}

const typeOf: Readonly<Record<number, string>> = {
  1: 'string',
  2: 'number',
  3: 'Date',
  4: 'Date',
  5: 'string',
  6: 'number',
  8: '(content: Html) => Html',
}
const tag = 8

/** The values that a message takes, each with its type. */
function valuesOf(message: string): ReadonlyMap<string, string> {
  return new Map(found(new IntlMessageFormat(message, 'en').getAst() as readonly Part[]))
}

function found(parts: readonly Part[]): (readonly [name: string, type: string])[] {
  return parts.flatMap((part) => {
    const type = typeOf[part.type]
    const inside = [
      ...Object.values(part.options ?? {}).flatMap(({ value }) => value),
      ...(part.children ?? []),
    ]
    return [...(type === undefined ? [] : [[part.value, type] as const]), ...found(inside)]
  })
}

function isMarkup(message: string): boolean {
  return [...valuesOf(message).values()].includes(typeOf[tag] as string)
}

/** The types of the values of all messages, as `message-values.ts` has them. */
export function typesOf(messages: Readonly<Record<string, string>>): string {
  const lines = (isWanted: boolean) =>
    Object.entries(messages)
      .map(([id, message]) => [id, message, [...valuesOf(message)]] as const)
      .filter(([, message, values]) => values.length > 0 && isMarkup(message) === isWanted)
      .map(([id, , values]) => lineOf(id, isWanted ? values.map(orHtml) : values))
      .join('')
  return `import type { Html } from '../frame/html.ts'

// Written by texts.test.ts. After a change in en.json: npm exec -- vitest run src/web/texts -u

/** What each message with values takes. */
export interface TextValues {
${lines(false)}}

/** What each message with tags takes. */
export interface MarkupValues {
${lines(true)}}
`
}

/** A message with tags becomes markup, so its values may be markup too. */
function orHtml([name, type]: readonly [string, string]): readonly [string, string] {
  return [name, type === 'string' ? 'string | Html' : type]
}

function lineOf(id: string, values: readonly (readonly [name: string, type: string])[]): string {
  const members = values.map(([name, type]) => `${name}: ${type}`)
  const line = `  '${id}': { ${members.join('; ')} }\n`
  return line.length <= 101
    ? line
    : `  '${id}': {\n${members.map((each) => `    ${each}\n`).join('')}  }\n`
}

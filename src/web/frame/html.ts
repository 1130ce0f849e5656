const markup: unique symbol = Symbol('markup')

/** Markup that is safe to send. Only this file can make it, so no data can pose as markup. */
export interface Html {
  readonly [markup]: string
}

/** The values of a template: text, which it escapes, numbers, markup, lists of these, and values that print nothing. */
type Part = Html | string | number | false | null | undefined | readonly Part[]

/**
 * A template that escapes every value that is not markup itself. Escaped text is safe between tags and in *quoted*
 * attributes; never put it into scripts or styles.
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let made = texts[0] ?? ''
  for (let at = 0; at < parts.length; at++) made += render(parts[at]) + (texts[at + 1] ?? '')
  return { [markup]: made }
}

export function textOf(made: Html): string {
  return made[markup]
}

/**
 * A block of data for search engines. JSON may contain text that ends a script element or opens a comment in it, so
 * every character that could begin either is escaped as JSON.
 */
export function dataBlock(data: object): Html {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, escaped)
  return { [markup]: `<script type="application/ld+json">${json}</script>` }
}

function render(part: Part): string {
  if (part === undefined || part === null || part === false) return ''
  if (typeof part === 'string')
    return part.replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  if (typeof part === 'number') return String(part)
  if (!isList(part)) return part[markup]
  let made = ''
  for (let at = 0; at < part.length; at++) made += render(part[at])
  return made
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(part: Html | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part)
}

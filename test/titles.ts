/** How a test begins: at the start of a line, alone or with more said of it. */
const begins = /^[ \t]*(?:test|it)(?=[.(])/gm
const notRun = /^\.(?:skip|todo)\b/

/**
 * The titles of the tests in a source, as they are written: one of `test.each` has its placeholders.
 * Tests that are skipped or only planned are left out.
 */
export function titlesIn(source: string): string[] {
  return [...source.matchAll(begins)].flatMap(({ 0: begin, index }) => {
    const title = titleAfter(source.slice(index + begin.length))
    return title === undefined ? [] : [title]
  })
}

/** The title behind `.concurrent`, `.each(…)`, `.each<…>(…)` and the like. */
function titleAfter(rest: string): string | undefined {
  if (notRun.test(rest)) return undefined
  const name = /^\.\w+/.exec(rest)?.[0]
  if (name !== undefined) return titleAfter(rest.slice(name.length))
  if (rest.startsWith('<')) return titleAfter(rest.slice(rest.indexOf('>(') + 1))
  if (!rest.startsWith('(')) return undefined
  const [, quote, text] = /^\(\s*(['"])((?:\\.|(?!\1).)*)\1/.exec(rest) ?? []
  if (quote !== undefined) return (text ?? '').replace(/\\(.)/g, '$1')
  return titleAfter(rest.slice(lengthOfBrackets(rest)))
}

/** How long the text in brackets is at the beginning, both brackets included. */
function lengthOfBrackets(text: string): number {
  let depth = 0
  // Strings and comments may hold brackets of their own.
  const parts = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|\/\/.*|[()]/g
  for (const { 0: part, index } of text.matchAll(parts)) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    if (depth === 0) return index + 1
  }
  return text.length
}

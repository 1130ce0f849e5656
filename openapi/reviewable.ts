const width = 100

/** JSON that is readable in a review: a value that fits into a line is on one line. */
export function reviewable(value: unknown): string {
  return `${textOf(JSON.parse(JSON.stringify(value)), '', 0)}\n`
}

/** @param taken the length of the text before it on its first line */
function textOf(value: unknown, indent: string, taken: number): string {
  const parts = partsOf(value)
  const inLine = inOneLine(value)
  if (parts === undefined || indent.length + taken + inLine.length <= width) return inLine
  const deeper = `${indent}  `
  const lines = parts.map(([name, part]) => `${deeper}${name}${textOf(part, deeper, name.length)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function inOneLine(value: unknown): string {
  const parts = partsOf(value)
  if (parts === undefined) return JSON.stringify(value)
  const text = parts.map(([name, part]) => `${name}${inOneLine(part)}`).join(', ')
  return Array.isArray(value) ? `[${text}]` : `{ ${text} }`
}

/** The members of an object or list, each with its name; undefined for empty ones and other values. */
function partsOf(value: unknown): readonly (readonly [name: string, part: unknown])[] | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return undefined
  if (Array.isArray(value)) return value.map((part) => ['', part] as const)
  return Object.entries(value).map(([name, part]) => [`${JSON.stringify(name)}: `, part] as const)
}

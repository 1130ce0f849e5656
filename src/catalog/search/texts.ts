/**
 * Sorted texts in one array of code units: a dictionary of many words without an object for each, which can be sent
 * between processes as it is.
 */
export interface Texts {
  readonly units: Uint16Array
  /** Where each text begins, and one entry more for where the last one ends. */
  readonly starts: Uint32Array
}

/** @param texts in the order in which JavaScript compares them, by code units */
export function packTexts(texts: readonly string[]): Texts {
  const starts = new Uint32Array(texts.length + 1)
  let length = 0
  for (const [at, text] of texts.entries()) {
    length += text.length
    starts[at + 1] = length
  }
  const units = new Uint16Array(length)
  for (const [at, text] of texts.entries()) {
    const start = starts[at] as number
    for (let unit = 0; unit < text.length; unit++) units[start + unit] = text.charCodeAt(unit)
  }
  return { units, starts }
}

export function textAt({ units, starts }: Texts, at: number): string {
  return String.fromCharCode(...units.subarray(starts[at], starts[at + 1]))
}

export function lengthAt({ starts }: Texts, at: number): number {
  return (starts[at + 1] as number) - (starts[at] as number)
}

/** The index of the first text that does not sort before this one. */
export function placeOf(texts: Texts, text: string): number {
  let low = 0
  let high = texts.starts.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareWith(texts, middle, text) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of exactly this text; undefined if it is not there. */
export function findText(texts: Texts, text: string): number | undefined {
  const at = placeOf(texts, text)
  return at < texts.starts.length - 1 && compareWith(texts, at, text) === 0 ? at : undefined
}

export function beginsWith({ units, starts }: Texts, at: number, prefix: string): boolean {
  const start = starts[at] as number
  if ((starts[at + 1] as number) - start < prefix.length) return false
  for (let unit = 0; unit < prefix.length; unit++) {
    if (units[start + unit] !== prefix.charCodeAt(unit)) return false
  }
  return true
}

function compareWith({ units, starts }: Texts, at: number, text: string): number {
  const start = starts[at] as number
  const length = (starts[at + 1] as number) - start
  const shared = Math.min(length, text.length)
  for (let unit = 0; unit < shared; unit++) {
    const difference = (units[start + unit] as number) - text.charCodeAt(unit)
    if (difference !== 0) return difference
  }
  return length - text.length
}

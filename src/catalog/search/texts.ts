/**
 * Sorted texts in one array of code units: a dictionary of many words that costs a reader no object
 * for any of them, and that goes from process to process as it is.
 */
export interface Texts {
  readonly units: Uint16Array
  /** Where each text begins; one more entry than texts says where the last ends. */
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

/** Where the first text stands that does not sort before this one. */
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

/** Where exactly this text stands; undefined where it does not. */
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

/** Characters by which people group digits. */
const fillers = /[\s().\u00a0-]/g

/**
 * The value of a typed field in the body of the purchase: an amount becomes a number, and numbers of phones and eSIMs
 * lose their separators. Used by the server and by the wallet's script.
 */
export function fieldValue(name: string, typed: string): string | number {
  const text = typed.trim()
  if (name === 'value') return /^\d{1,9}(\.\d{1,4})?$/.test(text) ? Number(text) : text
  if (name === 'msisdn' || name === 'iccid') return text.replace(fillers, '')
  return text
}

/** Puts values into a text of a page: "Open {wallet}." */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** The texts of a field about its faults. */
interface FaultTexts {
  readonly missing: string
  readonly wrong: string
}

/**
 * The sentence about a fault of a field. Used by the server and by the wallet's script, so that the form says the same
 * however it is paid.
 *
 * @param text the text of this very fault, if it has one
 * @param meant makes the question whether another value was meant
 */
export function fieldFaultText(
  {
    text,
    didYouMean,
  }: { readonly text?: string | undefined; readonly didYouMean?: string | number | undefined },
  {
    texts,
    typed,
    meant,
  }: {
    readonly texts: FaultTexts
    readonly typed: string
    readonly meant: (value: string) => string
  },
): string {
  if (typed.trim() === '') return texts.missing
  const wrong = text ?? texts.wrong
  return didYouMean === undefined ? wrong : `${wrong} ${meant(String(didYouMean))}`
}

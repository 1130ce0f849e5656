/** What people write into numbers to read them better. */
const fillers = /[\s().\u00a0-]/g

/**
 * What was typed into a field of a purchase, as the purchase has it: an amount is a number, and numbers of
 * phones and eSIMs are bare. The server reads a form by it, and so does the script of the wallet.
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

/** The texts of a field, as far as they say what is wrong with it. */
interface FaultTexts {
  readonly missing: string
  readonly wrong: string
}

/**
 * What is wrong with a field, in words for people. The server says it by this, and so does the script of
 * the wallet: the same form says the same, however it is paid.
 *
 * @param text what is said of exactly this fault, where there is such a text
 * @param meant asks whether another value was meant
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

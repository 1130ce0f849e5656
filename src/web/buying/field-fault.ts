/** The texts of a field, as far as they say what is wrong with it. */
export interface FaultTexts {
  readonly missing: string
  readonly wrong: string
  /** What is said instead where the service's words begin so. */
  readonly instead?: readonly (readonly [said: string, text: string])[]
}

/**
 * What is wrong with a field, in words for people. The server says it by this, and so does the script of
 * the wallet: the same form says the same, however it is paid.
 *
 * @param message what the service says of it, for programs
 * @param meant asks whether another value was meant
 */
export function fieldFaultText(
  { message, didYouMean }: { readonly message: string; readonly didYouMean?: string | number },
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
  const instead = texts.instead?.find(([words]) => message.startsWith(words))?.[1]
  const wrong = instead ?? texts.wrong
  return didYouMean === undefined ? wrong : `${wrong} ${meant(String(didYouMean))}`
}

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

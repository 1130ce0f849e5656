import built from '../../../build/phone-operators.json' with { type: 'json' }

/**
 * For each calling code, which operator the numbers that begin with some digits were assigned to. `npm run prepare` makes
 * it of the metadata of libphonenumber. A name is empty if hardly anybody knows it.
 */
const operators: Readonly<Record<string, Readonly<Record<string, string>>>> = built

/** A number by its calling code and the digits after that. */
interface PhoneNumber {
  readonly countryCallingCode: string
  readonly nationalNumber: string
}

/**
 * The operator that a number was first assigned to. In many countries people take their numbers to another operator, so
 * it is only likely. Undefined where numbers do not tell, as in North America.
 */
export function likelyOperator({
  countryCallingCode,
  nationalNumber,
}: PhoneNumber): string | undefined {
  const names = operators[countryCallingCode] ?? {}
  for (let size = nationalNumber.length; size > 0; size--) {
    const name = names[nationalNumber.slice(0, size)]
    if (name !== undefined) return name || undefined
  }
  return undefined
}

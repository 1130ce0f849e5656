export interface Range {
  readonly least: number
  readonly most: number
}

/**
 * The number that a command line or the environment gives.
 *
 * @throws Error with a message for the user, if it is not a whole number within the range
 */
export function wholeNumber(name: string, given: string, { least, most }: Range): number {
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= least && value <= most) return value
  throw new Error(`${name} must be a whole number from ${least} to ${most}, and "${given}" is not.`)
}

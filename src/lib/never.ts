/** Marks a branch that cannot be taken: adding a case to a union breaks the build here. */
export function never(value: never): never {
  throw new Error(`Unexpected ${JSON.stringify(value)}`)
}

/** Marks an unreachable branch. Adding a case to the union becomes a compile error here. */
export function never(value: never): never {
  throw new Error(`Unexpected ${JSON.stringify(value)}`)
}

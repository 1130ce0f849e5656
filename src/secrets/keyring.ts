/** The operator's keys. All of them read; the first one seals and signs. */
export type OperatorKeys = readonly Buffer[]

/**
 * Maps every key, and gives the mapped value of the first.
 *
 * @throws when there is no key
 */
export function fromEach<T>(
  keys: OperatorKeys,
  make: (key: Buffer) => T,
): { readonly all: readonly T[]; readonly current: T } {
  const all = keys.map(make)
  const [current] = all
  if (current === undefined) throw new Error('The store needs a key; set SECRETS_KEY')
  return { all, current }
}

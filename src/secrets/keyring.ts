/** The operator's keys, the newest first. All of them read; one makes what is new. */
export interface Keyring {
  readonly keys: readonly Buffer[]
  /** Which of them is used now. It changes while the store runs. */
  readonly used: () => number
}

/** A list by itself uses its first key. */
export type OperatorKeys = readonly Buffer[] | Keyring

/**
 * What follows from each key, and what follows from the one that is used now.
 *
 * @throws when there is no key
 */
export function fromEach<T>(
  keys: OperatorKeys,
  make: (key: Buffer) => T,
): { readonly all: readonly T[]; readonly used: () => T } {
  const ring = 'used' in keys ? keys : { keys, used: () => 0 }
  const all = ring.keys.map(make)
  const [first] = all
  if (first === undefined) throw new Error('The store needs a key')
  return { all, used: () => all[ring.used()] ?? first }
}

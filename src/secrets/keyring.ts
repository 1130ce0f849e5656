/** The operator's keys, the newest first. All of them read; one seals and signs. */
export interface Keyring {
  readonly keys: readonly Buffer[]
  /** The index of the key that seals and signs now. It may change while the store runs. */
  readonly currentIndex: () => number
}

/** In a plain list the first key seals and signs. */
export type OperatorKeys = readonly Buffer[] | Keyring

/**
 * Maps every key, and gives the mapped value of the key in use.
 *
 * @throws when there is no key
 */
export function fromEach<T>(
  keys: OperatorKeys,
  make: (key: Buffer) => T,
): { readonly all: readonly T[]; readonly current: () => T } {
  const ring = 'currentIndex' in keys ? keys : { keys, currentIndex: () => 0 }
  const all = ring.keys.map(make)
  const [first] = all
  if (first === undefined) throw new Error('The store needs a key; set SECRETS_KEY')
  return { all, current: () => all[ring.currentIndex()] ?? first }
}

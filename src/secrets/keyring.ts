import { hkdfSync } from 'node:crypto'

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

/**
 * Derives 32 bytes from an operator key and a purpose (HKDF, RFC 5869). They reveal neither the key nor
 * the bytes of another purpose. Every node with the same key derives the same bytes.
 */
export function derivedBytes(operatorKey: Buffer, purpose: string): Buffer {
  const derived = hkdfSync('sha256', operatorKey, Buffer.alloc(0), `kiosk402:${purpose}`, 32)
  return Buffer.from(derived)
}

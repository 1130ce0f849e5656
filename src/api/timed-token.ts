import type { Signer } from '../secrets/secrets.ts'

/**
 * Tokens that we sign and do not store, so that they cannot be revoked: they are short-lived. The prefix tells a token
 * from others that are sent in the same place.
 */
interface TimedToken {
  readonly names: readonly string[]
  readonly expiresAt: Date
}

export function issueToken(signer: Signer, prefix: string, { names, expiresAt }: TimedToken) {
  return `${prefix}${signer.sign([prefix, names, Math.floor(expiresAt.getTime() / 1_000)])}`
}

/** The content of a token that we signed, even if it has expired; undefined for any other text. */
export function readToken(
  signer: Signer,
  prefix: string,
  token: string | undefined,
): TimedToken | undefined {
  if (!token?.startsWith(prefix)) return undefined
  // The signer returns only what we have signed, so its shape needs no check.
  const signed = signer.read(token.slice(prefix.length)) as
    | readonly [prefix: string, names: readonly string[], until: number]
    | undefined
  if (signed?.[0] !== prefix) return undefined
  return { names: signed[1], expiresAt: new Date(signed[2] * 1_000) }
}

import * as z from 'zod'
import { goods, kinds, type Recipient } from '../../catalog/good.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import type { Digest } from '../../secrets/tokens.ts'

/** The field of a purchase that names its recipient, and its text; undefined if it names none. */
export function receiverOf(recipient: Recipient): {
  readonly field: string
  readonly text: string | undefined
} {
  const { receiver: field } = goods[recipient.kind]
  const told = new Map<string, unknown>(Object.entries(recipient)).get(field)
  return { field, text: typeof told === 'string' ? told.toLowerCase() : undefined }
}

/** A phone number, an e-mail address or an ICCID, as purchases name it; undefined for any other text. */
export function readReceiver(text: string): string | undefined {
  const isOne = kinds.some((kind) => {
    const { recipient, receiver }: KindDefinition = goods[kind]
    return z.safeParse(recipient.shape[receiver] ?? z.never(), text).success
  })
  return isOne ? text.toLowerCase() : undefined
}

/**
 * The keyed digest of a recipient for one wallet, so that the lists of two wallets do not show that they have
 * somebody in common. A recipient that is known under an older key of the store keeps that digest.
 */
export function digestOf(
  digest: Digest,
  { wallet, text }: { readonly wallet: string; readonly text: string },
  known: readonly string[] = [],
): string {
  const wording = `recipient:${wallet.toLowerCase()}:${text}`
  return known.find((candidate) => digest.matches(wording, candidate)) ?? digest.of(wording)
}

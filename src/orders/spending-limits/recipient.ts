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

/**
 * A phone number, an e-mail address or an ICCID in the one spelling in which `receiverOf` names it; undefined for
 * any other text.
 */
export function readReceiver(text: string): string | undefined {
  const kind = kinds.find((each) => {
    const { recipient, receiver }: KindDefinition = goods[each]
    return z.safeParse(recipient.shape[receiver] ?? z.never(), text).success
  })
  if (!kind) return undefined
  const { receiverIn }: KindDefinition = goods[kind]
  const receiver = receiverIn ? receiverIn(text) : text
  return receiver?.toLowerCase()
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

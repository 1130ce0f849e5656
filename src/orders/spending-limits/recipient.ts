import { esim } from '../../catalog/esim.ts'
import type { Recipient } from '../../catalog/good.ts'
import { topup } from '../../catalog/topup.ts'
import { voucher } from '../../catalog/voucher.ts'
import type { Digest } from '../../secrets/tokens.ts'

/** The field of a purchase that says whom it goes to, and what it says. Absent: to nobody in particular. */
export function receiverOf(recipient: Recipient): {
  readonly field: string
  readonly text: string | undefined
} {
  switch (recipient.kind) {
    case 'topup':
      return { field: 'msisdn', text: recipient.msisdn }
    case 'voucher':
      return { field: 'email', text: recipient.email?.toLowerCase() }
    case 'esim':
      return { field: 'iccid', text: recipient.iccid }
  }
}

/** A phone number, an e-mail address or an ICCID as purchases name it, or undefined when it is none. */
export function readReceiver(text: string): string | undefined {
  const { msisdn } = topup.recipient.shape
  const { email } = voucher.recipient.shape
  const { iccid } = esim.recipient.shape
  const isOne = [msisdn, email, iccid].some((schema) => schema.safeParse(text).success)
  return isOne ? text.toLowerCase() : undefined
}

/**
 * The keyed digest of a receiver, of this wallet alone: the lists of two wallets tell nobody that
 * they have somebody in common. One that is known under an older key of the store keeps that digest.
 */
export function digestOf(
  digest: Digest,
  { wallet, text }: { readonly wallet: string; readonly text: string },
  known: readonly string[] = [],
): string {
  const wording = `recipient:${wallet.toLowerCase()}:${text}`
  return known.find((candidate) => digest.matches(wording, candidate)) ?? digest.of(wording)
}

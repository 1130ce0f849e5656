import { createSmtpMailer } from './adapters/mail/smtp.ts'
import type { Storage } from './adapters/storage/storage.ts'
import type { Common, Outside } from './config.ts'
import type { OperatorKeys } from './secrets/keyring.ts'
import { createDigest, createSigner } from './secrets/tokens.ts'

/** What the pages of orders need besides what sells: tokens, explorer, and mail where it is configured. */
export function trackingOf(
  { mail, network }: Common & Outside,
  keys: OperatorKeys,
  storage: Storage,
  isSandbox: boolean,
) {
  return {
    tokenSigner: createSigner(keys, 'order-pass'),
    codes: createDigest(keys, 'recovery-code'),
    checkouts: storage.checkouts,
    // The chain of the sandbox is in no explorer.
    explorer: isSandbox ? undefined : network.explorer,
    mail: mail && {
      mailer: createSmtpMailer(mail),
      book: storage.mail,
      digest: createDigest(keys, 'order-mail'),
    },
  }
}

import type { Recipient } from '../catalog/offer.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Digest } from '../secrets/secrets.ts'
import { identityOf, personDigest, shortDigest } from './denylist.ts'

export interface FindingDeps {
  readonly digest: Digest
  /** A keyed digest, for recovery codes. */
  readonly codes: Digest
  /** The id of the request that is being answered, as the log has it. */
  readonly requestId?: (() => string | undefined) | undefined
}

/** By what an operator finds an order, besides its ids, its payment and its transactions. */
export interface FoundBy {
  /** Who receives it, as keyed digests; erased with the personal fields. */
  readonly persons: readonly string[]
  /** Keyed digest of its recovery code. */
  readonly recovery?: string
  /** The id of the request that opened it. */
  readonly request?: string | undefined
}

/** By what somebody showed that an order is theirs. */
export type Proof =
  /** The answer to the request that bought it. */
  | 'purchase'
  | 'token'
  | 'key'
  | 'wallet'
  /** A link that opens it for some days: from a mail, a recovery code or an operator. */
  | 'link'
  /** A link that shows the goods once. */
  | 'once'

/** Puts on record that the goods were shown. Returns at once; what fails is tried again. */
export type NoteShown = (order: OrderId, proof: Proof) => void

/** E-mail addresses, phone numbers in E.164 form and ICCIDs, whatever field has them. */
const namesPerson = /^\S+@\S+$|^\+\d{7,15}$|^\d{18,22}$/

export function foundBy(deps: FindingDeps, id: OrderId, recipient?: Recipient): FoundBy {
  const texts = Object.values(recipient ?? {}).filter((value) => typeof value === 'string')
  const persons = new Set(texts.filter((text) => namesPerson.test(text)).map(identityOf))
  return {
    persons: [...persons].map((person) => personDigest(deps.digest, person)),
    recovery: shortDigest(deps.digest.of(recoveryWording(recoveryCodeOf(deps, id)))),
    request: deps.requestId?.(),
  }
}

/** Those of a code as somebody typed it; none of a text that is no code. */
export function recoveryDigests({ every }: Pick<Digest, 'every'>, text: string): readonly string[] {
  return lettersIn(text).length === maxLetters ? every(recoveryWording(text)).map(shortDigest) : []
}

const recoveryWording = (code: string) => `recovery:${lettersIn(code)}`

/** 32 digits and capitals that cannot be mistaken for one another, five bits each. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const maxLetters = 12

/** For buyers who lost the private link and have no wallet to sign in with. It has 60 bits. */
export function recoveryCodeOf({ codes }: Pick<FindingDeps, 'codes'>, id: OrderId): string {
  return lettersOf(codes.of(id)).replaceAll(/(.{4})(?=.)/g, '$1-')
}

export function isRecoveryCode({ codes }: Pick<FindingDeps, 'codes'>, id: OrderId, text: string) {
  const typed = lettersIn(text)
  return codes.every(id).some((digest) => lettersOf(digest) === typed)
}

/** The letters of a code as somebody typed them. */
function lettersIn(text: string): string {
  return text.toUpperCase().replace(/[\s-]/g, '')
}

function lettersOf(digest: string): string {
  const bytes = Buffer.from(digest, 'hex').subarray(0, maxLetters)
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
}

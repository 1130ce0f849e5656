import type { CachedAnswer } from './answer-cache.ts'
import { digestOf } from './caching.ts'
import { type Compressed, compress } from './content-coding.ts'

/**
 * A text that stays the same while the store runs, and that anyone may have. Each of its smaller forms
 * is made once, aside, when it is asked for first; who asked first gets the text as it is.
 */
export function fixedText(text: string): CachedAnswer {
  const body = Buffer.from(text)
  const made = new Map<Compressed, Buffer>()
  const begun = new Set<Compressed>()
  return {
    answer: { body, digest: digestOf(body), forms: made },
    smaller(coding) {
      if (!begun.has(coding)) {
        begun.add(coding)
        compress(body, coding).then(
          (form) => made.set(coding, form),
          // It stays as it is, and is tried again when it is asked for again.
          () => begun.delete(coding),
        )
      }
      return made.get(coding)
    },
  }
}

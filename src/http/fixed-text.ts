import type { CachedAnswer } from './answer-cache.ts'
import { digestOf } from './caching.ts'
import { type Compressed, compress } from './content-coding.ts'

/**
 * A public text that does not change while the store runs. Each compressed form is made once, in the background,
 * at the first request for it; that request gets the text uncompressed.
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
          // The text stays uncompressed; the next request tries again.
          () => begun.delete(coding),
        )
      }
      return made.get(coding)
    },
  }
}

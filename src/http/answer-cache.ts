import { LRUCache } from 'lru-cache'
import type { ReadDeps } from '../api/deps.ts'
import { staleParts } from '../catalog/staleness.ts'
import { type FixedText, fixedText } from './caching.ts'

/**
 * Finished answers to requests that need neither a payment nor a sign-in. They contain no secrets and nothing about
 * the caller. Purchases, orders and refunds are never kept here.
 */
export interface AnswerCache {
  /**
   * The current answer to a request. It and the catalog with its prices determine the answer.
   *
   * @param answer an error that it throws is never kept
   */
  find(request: string, answer: () => object | string): FixedText
}

/** About 3,000 pages of 20 offers; little compared with the catalog. */
const maxAnswerBytes = 32 * 1024 * 1024
/** The approximate size of an entry besides its key and its answer. */
const entryBytes = 200

/** @param maxBytes 0 keeps nothing */
export function createAnswerCache(
  { liveCatalog, pricing }: Pick<ReadDeps, 'liveCatalog' | 'pricing'>,
  maxBytes = maxAnswerBytes,
): AnswerCache {
  const answers = new LRUCache<string, FixedText>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ text }, key) => text.length + 2 * key.length + entryBytes,
  })
  let basis: readonly unknown[] = []

  /** Prices also end by time alone, when the exchange rates or a supplier's list become too old. */
  const forgetWhatIsOld = () => {
    const catalog = liveCatalog.current()
    const parts = staleParts(pricing, catalog.sizes)
    const now = [catalog, pricing.markupBps, pricing.rates(), parts]
    if (now.every((part, at) => part === basis[at])) return
    basis = now
    answers.clear()
  }

  return {
    find(request, answer) {
      forgetWhatIsOld()
      const known = answers.get(request)
      if (known !== undefined) return known
      const content = answer()
      const made = fixedText(typeof content === 'string' ? content : JSON.stringify(content))
      answers.set(request, made)
      return made
    },
  }
}

import { crc32 } from 'node:zlib'
import type { ReadDeps } from '../api/deps.ts'
import type { Content, Query } from '../api/query.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { staleParts } from '../catalog/staleness.ts'
import { type ByteBounded, byteBounded } from './byte-bounded.ts'
import { digestOf } from './caching.ts'
import { type Compressed, compress } from './content-coding.ts'

/** A finished answer, with the compressed forms made of it so far. */
interface Answer {
  readonly body: Buffer
  /** Differs between two texts of one address. Each compressed form has an ETag of its own. */
  readonly digest: string
  readonly forms: ReadonlyMap<Compressed, Buffer>
}

/**
 * Finished answers to requests that need neither a payment nor a sign-in.
 *
 * They contain no secrets and nothing about the caller, so compressing them leaks nothing (BREACH).
 * Purchases, orders and refunds are never kept here and never compressed.
 */
export interface AnswerCache {
  /**
   * The current answer to a request at a route.
   *
   * @param url the raw target of the request; it and the catalog determine the answer
   * @param read parses the target; an error that it throws is never kept
   */
  find(route: string, url: string, read: () => Kept): CachedAnswer
  /** The bytes that it holds. */
  readonly bytes: () => number
}

/** A parsed request. An answer that is a string is kept unchanged. */
type Kept = Pick<Query, 'key'> & { readonly answer: () => Content | string }

export interface CachedAnswer {
  readonly answer: Answer
  /**
   * The compressed answer if it exists. If not, it is compressed in the background for the next caller, because
   * an answer that is requested only once is not worth compressing. Answers below 1 kB are never compressed.
   */
  smaller(coding: Compressed): Buffer | undefined
}

export interface AnswerCacheOptions {
  /** 0 keeps nothing. */
  readonly maxBytes?: number | undefined
  readonly compressBody?: typeof compress
}

/** About 1,500 pages of 20 offers in all three forms; little compared with the catalog. */
const maxAnswerBytes = 32 * 1024 * 1024
/** A smaller answer and its headers fit into one packet anyway. */
const compressFrom = 1024
/** Node's thread pool has four threads, and DNS lookups need them too. */
const maxCompressing = 2

export function createAnswerCache(
  { liveCatalog, pricing, site }: ReadDeps,
  { maxBytes = maxAnswerBytes, compressBody = compress }: AnswerCacheOptions = {},
): AnswerCache {
  const answers = byteBounded<Answer>(maxBytes)
  // Maps URLs to keys of answers, so that no URL is parsed twice.
  const keys = byteBounded<string>(maxBytes / 8)
  const smaller = createCompressing(answers, compressBody)
  let basis: readonly unknown[] = []
  let edition = ''

  const forgetWhatIsOld = () => {
    const catalog = liveCatalog.current()
    const now = basisOf(catalog, pricing)
    if (now.every((part, at) => part === basis[at])) return
    basis = now
    edition = digestOf(JSON.stringify([catalog.version, ...now.slice(1), site]))
    answers.clear()
    keys.clear()
  }

  return {
    bytes: () => answers.bytes() + keys.bytes(),
    // Nothing here is asynchronous, so the catalog cannot be swapped between the check and the answer.
    find(route, url, read) {
      forgetWhatIsOld()
      const asked = keys.get(url)
      const question = asked === undefined ? read() : undefined
      const key = asked ?? `${route} ${question?.key}`
      if (question !== undefined) keys.set(url, key, 2 * key.length)
      const known = answers.get(key)
      if (known !== undefined) {
        return { answer: known, smaller: (coding) => smaller(key, known, coding) }
      }
      const name = () => `${edition}-${crc32(key).toString(36)}`
      const answer = answerOf((question ?? read()).answer(), name)
      answers.set(key, answer, answer.body.length)
      return { answer, smaller: () => undefined }
    },
  }
}

/**
 * Everything that an answer depends on besides its URL, the catalog first. Prices also end by time alone,
 * when the exchange rates or a supplier's list become too old.
 */
function basisOf(catalog: Catalog, pricing: Pricing): readonly unknown[] {
  return [catalog, pricing.markupBps, pricing.rates(), staleParts(pricing, catalog.sizes)]
}

/**
 * @param name of the catalog edition and of the question, which together determine the bytes of a search.
 *   Hashing tens of kilobytes instead takes longer than the search itself.
 */
function answerOf(content: Content | string, name: () => string): Answer {
  if (Buffer.isBuffer(content)) return { body: content, digest: name(), forms: new Map() }
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
  return { body, digest: digestOf(body), forms: new Map() }
}

/** Gives the compressed forms of kept answers, and makes each of them once. */
function createCompressing(answers: ByteBounded<Answer>, compressBody: typeof compress) {
  const making = new Set<string>()

  const make = async (key: string, known: Answer, coding: Compressed) => {
    const form = await compressBody(known.body, coding)
    // Meanwhile the answer may have been dropped, or replaced by that of a newer catalog.
    const kept = answers.get(key)
    if (kept?.body !== known.body) return
    const forms = new Map([...kept.forms, [coding, form]])
    const sizes = Array.from(forms.values(), ({ length }) => length)
    answers.set(
      key,
      { ...kept, forms },
      sizes.reduce((sum, size) => sum + size, kept.body.length),
    )
  }

  return (key: string, known: Answer, coding: Compressed): Buffer | undefined => {
    const form = known.forms.get(coding)
    if (form !== undefined || known.body.length < compressFrom) return form
    const job = `${coding} ${known.digest}`
    if (making.size >= maxCompressing || making.has(job)) return undefined
    making.add(job)
    make(key, known, coding)
      // The answer stays uncompressed; the next request for it tries again.
      .catch(() => undefined)
      .finally(() => making.delete(job))
    return undefined
  }
}

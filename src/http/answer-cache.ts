import { crc32 } from 'node:zlib'
import type { ReadDeps } from '../api/deps.ts'
import type { Content, Query } from '../api/query.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { staleParts } from '../catalog/staleness.ts'
import { type ByteBounded, byteBounded } from './byte-bounded.ts'
import { digestOf } from './caching.ts'
import { type Compressed, compress } from './content-coding.ts'

/** An answer as it goes out, with the smaller forms that were made of it so far. */
interface Answer {
  readonly body: Buffer
  /** Changes when the text does, at one address. Each form of it has a tag of its own. */
  readonly digest: string
  readonly forms: ReadonlyMap<Compressed, Buffer>
}

/**
 * Finished answers to what anyone may read without paying or signing in.
 *
 * They hold no secrets and nothing of the caller, so compressing them gives nothing away (BREACH).
 * Purchases, orders and refunds are never kept here and never compressed.
 */
export interface AnswerCache {
  /**
   * The current answer to a request at a route.
   *
   * @param url the raw target of the request; together with the catalog it decides the answer
   * @param read understands the target; what it throws is never kept
   */
  find(route: string, url: string, read: () => Kept): CachedAnswer
  /** How much is held. */
  readonly bytes: () => number
}

/** What is asked for; a text is kept as it is. */
type Kept = Pick<Query, 'key'> & { readonly answer: () => Content | string }

export interface CachedAnswer {
  readonly answer: Answer
  /**
   * The answer in a smaller form if there is one. If not, it is made aside for the next caller: an
   * answer that is asked for once is never worth it, nor is one below a kilobyte.
   */
  smaller(coding: Compressed): Buffer | undefined
}

export interface AnswerCacheOptions {
  /** 0 keeps nothing. */
  readonly maxBytes?: number | undefined
  readonly compressBody?: typeof compress
}

/** About 1 500 pages of 20 offers in all three forms, and little beside what the catalog takes. */
const maxAnswerBytes = 32 * 1024 * 1024
/** Below this an answer and its headers fit into one packet anyway. */
const compressFrom = 1024
/** The pool has four threads, and looking up names needs them too. */
const maxCompressing = 2

export function createAnswerCache(
  { liveCatalog, pricing, site }: ReadDeps,
  { maxBytes = maxAnswerBytes, compressBody = compress }: AnswerCacheOptions = {},
): AnswerCache {
  const answers = byteBounded<Answer>(maxBytes)
  // Addresses lead to answers, so that the same address need not be understood twice.
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
    // Nothing here waits, so no swap can come between the look at the basis and the answer.
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
 * All that an answer depends on besides its address, the catalog first. Prices also end by time alone,
 * when the rates or a list become too old.
 */
function basisOf(catalog: Catalog, pricing: Pricing): readonly unknown[] {
  return [catalog, pricing.markupBps, pricing.rates(), staleParts(pricing, catalog.sizes)]
}

/**
 * @param name of what a search was found in and of its question. At one address the first decides the
 *   answer, and reading tens of kilobytes to name them takes longer than finding them.
 */
function answerOf(content: Content | string, name: () => string): Answer {
  if (Buffer.isBuffer(content)) return { body: content, digest: name(), forms: new Map() }
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
  return { body, digest: digestOf(body), forms: new Map() }
}

/** Gives the smaller forms of kept answers, and makes each of them once. */
function createCompressing(answers: ByteBounded<Answer>, compressBody: typeof compress) {
  const making = new Set<string>()

  const make = async (key: string, known: Answer, coding: Compressed) => {
    const form = await compressBody(known.body, coding)
    // Since then it may have been dropped, or have made room for the answer of another catalog.
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
      // It stays as it is, and is tried again when it is asked for again.
      .catch(() => undefined)
      .finally(() => making.delete(job))
    return undefined
  }
}

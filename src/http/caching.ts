import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { manifestPath, openApiPath, type ReadDeps, type Site } from '../api/operation.ts'
import { readings } from '../api/operations.ts'
import { staleParts } from '../catalog/staleness.ts'
import { inQuery } from './call.ts'
import { configOf, routeOf } from './routes.ts'

/** Answers of discovery may be cached by anyone for a minute. */
export const publicMinute = 'public, max-age=60'
/** The catalog must be revalidated before each use, because purchases rely on its prices. */
const revalidate = 'no-cache'

const json = 'application/json; charset=utf-8'

/** Links from discovery to the manifest and the OpenAPI document, with the relations of RFC 8631. */
const link = `<${manifestPath}>; rel="service-meta"; type="application/json", <${openApiPath}>; rel="service-desc"; type="application/json"`

/** Routes everything that anyone may read for free: the discovery interface and the reads of the catalog interface. */
export function routeReadings(
  app: FastifyInstance,
  { answers, ...deps }: ReadDeps & { readonly answers: AnswerCache },
): void {
  for (const reading of readings) {
    const isDiscovery = reading.group === 'Discovery'
    const cacheControl = isDiscovery ? publicMinute : revalidate
    app.get(routeOf(reading), { config: configOf(reading) }, (request, reply) => {
      const url = request.raw.url ?? ''
      const { id } = request.params as { id?: string }
      const answer = answers.find(url, () => reading.ask(inQuery(url), deps, id))
      if (isDiscovery) reply.header('link', link)
      return sendText(request, reply, { ...answer, type: json, cacheControl })
    })
  }
}

/** About 3,000 pages of 20 offers. */
const maxAnswerBytes = 32 * 1024 * 1024
/** The approximate size of an entry besides its key and its answer. */
const entryBytes = 200

type AnswerCache = ReturnType<typeof createAnswerCache>

/**
 * Finished answers to requests that need neither a payment nor a sign-in, never of purchases, orders or refunds.
 *
 * @param maxBytes 0 keeps nothing
 */
export function createAnswerCache(
  { liveCatalog, pricing, takesCoins }: Pick<ReadDeps, 'liveCatalog' | 'pricing' | 'takesCoins'>,
  maxBytes = maxAnswerBytes,
) {
  const answers = new LRUCache<string, FixedText>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ text }, key) => text.length + 2 * key.length + entryBytes,
  })
  let basis: readonly unknown[] = []

  /** Prices also end by time alone, when the exchange rates or a supplier's list become too old. */
  const forgetWhatIsOld = () => {
    const catalog = liveCatalog.current()
    const parts = staleParts(pricing, catalog.sizes)
    const now = [catalog, pricing.rules(), pricing.rates(), parts, takesCoins?.()]
    if (now.every((part, at) => part === basis[at])) return
    basis = now
    answers.clear()
  }

  return {
    /** @param answer makes the answer to a new request; an error that it throws is never kept */
    find(request: string, answer: () => object | string): FixedText {
      forgetWhatIsOld()
      const cached = answers.get(request)
      if (cached !== undefined) return cached
      const content = answer()
      // As bytes, which are not encoded again for each caller.
      const made = fixedText(
        Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
      )
      answers.set(request, made)
      return made
    },
  }
}

export interface FixedText {
  /** A Buffer is sent without a character set. */
  readonly text: string | Buffer
  readonly digest: string
}

export function fixedText(text: string | Buffer): FixedText {
  return { text, digest: hash('sha256', text, 'base64url').slice(0, 22) }
}

interface Sent extends FixedText {
  readonly type?: string
  readonly cacheControl: string
}

/** Sends the text, or 304 if the caller already has the same bytes: the ETag is a hash of them. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, digest, type = 'application/json', cacheControl }: Sent,
): FastifyReply {
  const tag = `"${digest}"`
  reply.header('etag', tag).header('cache-control', cacheControl)
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(typeof text === 'string' ? `${type}; charset=utf-8` : type).send(text)
}

/** Whether If-None-Match lists the tag, or is `*`. Compares weakly, as RFC 9110 requires for it. */
function matchesTag(header: string | undefined, tag: string): boolean {
  return header?.trim() === '*' || (header?.match(/"[^"]*"/g) ?? ([] as string[])).includes(tag)
}

interface OpenApiDeps {
  readonly site: Site
  readonly asset: string
}

/** Serves the OpenAPI document of this store, at both paths at which clients look for it. */
export function routeOpenApi(app: FastifyInstance, deps: OpenApiDeps): void {
  const openApi = fixedText(JSON.stringify(openApiFor(deps)))
  for (const path of [openApiPath, '/ai/openapi.json']) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) =>
      sendText(request, reply, { ...openApi, cacheControl: publicMinute }),
    )
  }
}

interface Document {
  info: object
  servers: [{ url: string }]
  paths: Record<string, Record<string, { 'x-payment-info'?: { offers: { currency: string }[] } }>>
}

/** The checked-in document, with the address and the data of this store. */
function openApiFor({ site, asset }: OpenApiDeps): Document {
  const { name, description, contact, url } = site
  const file = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  const [written] = (JSON.parse(file) as Document).servers
  // URLs and hosts in one pass: a URL that was just inserted must not be replaced again.
  const text = file
    .split(written.url)
    .map((part) => part.replaceAll(new URL(written.url).host, new URL(url).host))
    .join(url)
  const document: Document = JSON.parse(text)
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const offer of operation['x-payment-info']?.offers ?? []) offer.currency = asset
  }
  const about = { title: name, description, contact: { name, email: contact, url } }
  return { ...document, info: { ...document.info, ...about } }
}

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CachedAnswer } from './answer-cache.ts'
import { acceptedCodings, type Coding } from './content-coding.ts'

/** Answers of discovery may be cached by anyone for a minute. */
export const publicMinute = 'public, max-age=60'
/** The catalog must be revalidated before each use, because purchases rely on its prices. */
export const revalidate = 'no-cache'

/** A text to send, with its caching policy. */
export interface Text {
  /** A Buffer is sent without a character set. */
  readonly text: string | Buffer
  readonly type: string
  readonly cacheControl: string
}

/**
 * Sends the answer in the coding that the caller prefers among those that are ready, or 304 if the caller
 * already has the answer in a coding that it accepts. A caller that refuses every coding gets it uncompressed,
 * because an error would not help it more.
 */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    found,
    cacheControl,
    type = 'application/json',
  }: { found: CachedAnswer; cacheControl: string; type?: string },
): FastifyReply {
  const accepted = acceptedCodings(request.headers['accept-encoding'])
  const { coding, body } = bestForm(found, accepted)
  const known = [coding, ...accepted].find((form) =>
    isKnown(request.headers['if-none-match'], tagOf(found, form)),
  )
  reply
    .header('etag', tagOf(found, known ?? coding))
    .header('cache-control', cacheControl)
    .header('vary', 'Accept-Encoding')
  if (known !== undefined) return reply.code(304).send()
  if (coding !== 'identity') reply.header('content-encoding', coding)
  return reply.type(`${type}; charset=utf-8`).send(body)
}

function bestForm(
  found: CachedAnswer,
  accepted: readonly Coding[],
): { coding: Coding; body: Buffer } {
  for (const coding of accepted) {
    const body = coding === 'identity' ? found.answer.body : found.smaller(coding)
    if (body !== undefined) return { coding, body }
  }
  return { coding: 'identity', body: found.answer.body }
}

/** The codings of one text differ in their bytes, so they may not share a strong ETag (RFC 9110, 8.8.3). */
function tagOf({ answer }: CachedAnswer, coding: Coding): string {
  return coding === 'identity' ? `"${answer.digest}"` : `"${answer.digest}-${coding}"`
}

/**
 * Sends the text, or 304 if the caller already has the same bytes.
 *
 * The ETag is a hash of the text, so it is right whatever the text depends on: catalog, query, markup, rates.
 */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, type, cacheControl }: Text,
): FastifyReply {
  const tag = `"${digestOf(text)}"`
  reply.header('etag', tag).header('cache-control', cacheControl)
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(typeof text === 'string' ? `${type}; charset=utf-8` : type).send(text)
}

/** A short hash of these bytes, for ETags and URLs. */
export function digestOf(text: string | Buffer): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Whether If-None-Match lists the tag, or is `*`. Compares weakly, as RFC 9110 requires for it. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? []
  return tags.includes(tag)
}

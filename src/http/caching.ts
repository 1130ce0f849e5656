import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CachedAnswer } from './answer-cache.ts'
import { acceptedCodings, type Coding } from './content-coding.ts'

/** Anyone may keep what discovery says for a minute. */
export const publicMinute = 'public, max-age=60'
/** The catalog may be kept but not used unasked: what is bought by it must be what is sold. */
export const revalidate = 'no-cache'

/** A text to be sent, and how long anyone may keep it. */
export interface Text {
  /** Bytes are of a type that has no character set. */
  readonly text: string | Buffer
  readonly type: string
  readonly cacheControl: string
}

/**
 * Answers in the best form that the caller takes and that is ready, or with 304 when the
 * caller has a form of it that it takes. A caller that refuses even plain text gets it all the same:
 * an error would serve it no better.
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

/** Forms of one text differ in their bytes, so they may not share a strong tag (RFC 9110, 8.8.3). */
function tagOf({ answer }: CachedAnswer, coding: Coding): string {
  return coding === 'identity' ? `"${answer.digest}"` : `"${answer.digest}-${coding}"`
}

/**
 * Answers with the text, or with 304 when the caller already has these very bytes.
 *
 * The tag is made of the text itself, so it is right whatever the text depends on: the catalog, the
 * query, the markup, the rates of now.
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

/** A short name for these bytes: it changes when they do. */
export function digestOf(text: string | Buffer): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Compares weakly, as RFC 9110 wants it for If-None-Match: a list of tags, or `*` for any. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? []
  return tags.includes(tag)
}

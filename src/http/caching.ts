import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Answers of discovery may be cached by anyone for a minute. */
export const publicMinute = 'public, max-age=60'
/** The catalog must be revalidated before each use, because purchases rely on its prices. */
export const revalidate = 'no-cache'

export interface FixedText {
  readonly text: string | Buffer
  readonly digest: string
}

export function fixedText(text: string | Buffer): FixedText {
  return { text, digest: digestOf(text) }
}

interface Sent {
  /** A Buffer is sent without a character set. */
  readonly text: string | Buffer
  readonly digest?: string
  readonly type?: string
  readonly cacheControl: string
}

/**
 * Sends the text, or 304 if the caller already has the same bytes.
 *
 * The ETag is a hash of the text, so it is right whatever the text depends on: catalog, query, markup, rates.
 */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, digest = digestOf(text), type = 'application/json', cacheControl }: Sent,
): FastifyReply {
  const tag = `"${digest}"`
  reply.header('etag', tag).header('cache-control', cacheControl)
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(typeof text === 'string' ? `${type}; charset=utf-8` : type).send(text)
}

/** A short hash of these bytes, for ETags and URLs. */
function digestOf(text: string | Buffer): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Whether If-None-Match lists the tag, or is `*`. Compares weakly, as RFC 9110 requires for it. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? []
  return tags.includes(tag)
}

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Anyone may keep what discovery says for a minute (decisions 2). */
export const publicMinute = 'public, max-age=60'
/** The catalog may be kept but not used unasked: what is bought by it must be what is sold. */
export const revalidate = 'no-cache'

/** A text to be sent, and how long anyone may keep it. */
export interface Text {
  readonly text: string
  readonly type: string
  readonly cacheControl: string
}

/** Answers with JSON, or with 304 when the caller already has these very bytes. */
export function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, cacheControl }: { body: unknown; cacheControl: string },
): FastifyReply {
  const text = JSON.stringify(body)
  return sendText(request, reply, { text, type: 'application/json', cacheControl })
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
  return reply.type(`${type}; charset=utf-8`).send(text)
}

/** A short name for these bytes: it changes when they do. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Compares weakly, as RFC 9110 wants it for If-None-Match: a list of tags, or `*` for any. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? []
  return tags.includes(tag)
}

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A text to be sent, and how long anyone may keep it. */
export interface Text {
  readonly text: string
  readonly type: string
  readonly cacheControl: string
}

/** Answers with the text, or with 304 when the caller has these very bytes (decisions 2). */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, type, cacheControl }: Text,
): FastifyReply {
  const tag = `"${digestOf(text)}"`
  reply.header('etag', tag).header('cache-control', cacheControl)
  const known: readonly string[] = request.headers['if-none-match']?.match(/"[^"]*"|\*/g) ?? []
  if (known.includes(tag) || known.includes('*')) return reply.code(304).send()
  return reply.type(`${type}; charset=utf-8`).send(text)
}

/** A short name for these bytes: it changes when they do. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

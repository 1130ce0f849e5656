import type { Draft, Material, Pair } from './draft.ts'
import { Written } from './mutate.ts'

/**
 * Serialises a request. It stays one request whatever its parts contain: line breaks within them, which could
 * make it two, are replaced; raw inputs test those.
 */
export function written(draft: Draft, material: Material, number: number): Buffer {
  const { method, path, query, body, payment, signIn } = draft
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  const content = body === undefined ? undefined : bytesOf(body)
  const headers: Pair[] = [
    ['host', material.host],
    ...typeOf(draft),
    ...draft.headers,
    ...envelope('payment-signature', payment),
    ...envelope('sign-in-with-x', signIn),
    ...(content === undefined ? [] : [['content-length', String(content.length)] as const]),
    // The last one counts, as if the trusted proxy had added it.
    ['x-forwarded-for', addressOf(number)],
  ]
  const target = inLine(`${path}${search === '' ? '' : `?${search}`}`).replaceAll(' ', '%20')
  const lines = headers.map(([name, value]) => `${inLine(name)}: ${inLine(value)}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return content === undefined ? head : Buffer.concat([head, content])
}

/** One of 16,384 client addresses, so that the store remembers rate limits for many clients and none exceeds one. */
function addressOf(number: number): string {
  const client = number % 16_384
  return client % 8 === 0
    ? `2001:db8:${client.toString(16)}::1`
    : `10.7.${client >> 8}.${client & 255}`
}

function typeOf({ body, headers }: Draft): Pair[] {
  const isSaid = headers.some(([name]) => name === 'content-type')
  return body === undefined || isSaid ? [] : [['content-type', 'application/json']]
}

function envelope(name: string, value: unknown): Pair[] {
  if (value === undefined) return []
  const text = value instanceof Written ? value.bytes.toString('latin1') : base64(value)
  return [[name, text]]
}

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value) ?? '').toString('base64')
}

function bytesOf(body: unknown): Buffer {
  return body instanceof Written ? body.bytes : Buffer.from(JSON.stringify(body) ?? '')
}

function inLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '?')
}

import { randomInt } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'

/** A server on this machine with its own name and certificate. */
interface Server {
  readonly port: number
  readonly name: string
  readonly ca: string
}

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what is tested
  readonly body: any
}

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** The local address of the client; by default a new one for each request. */
  readonly from?: string
}

export type Ask = (path: string, asking?: Asking) => Promise<Told>

/** A random loopback address (RFC 1122, 3.2.1.3: 127.0.0.0/8), which hardly any other client has. */
export const anyClient = () => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`

/** A client over HTTP/1.1 that uses a new connection for each request. */
export function asker({ port, name, ca }: Server): Ask {
  return (path, { method, headers = {}, body, from = anyClient() } = {}) =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body)
      const sent = request(
        {
          ...{ host: '127.0.0.1', port, path, ca, servername: name, localAddress: from },
          method: method ?? (content === undefined ? 'GET' : 'POST'),
          agent: false,
          headers: { host: name, ...typeOf(content), ...headers },
        },
        async (answer) => resolve(told(answer.statusCode ?? 0, answer.headers, await text(answer))),
      )
      const lost = (cause: Error) =>
        reject(new Error(`${path} at ${name}:${port}: ${cause.message}`, { cause }))
      sent.on('error', lost).end(content)
    })
}

const typeOf = (content: string | undefined) =>
  content === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }

function told(status: number, headers: IncomingHttpHeaders, content: string): Told {
  const isJson = /json/.test(headers['content-type'] ?? '')
  const body = isJson && content ? JSON.parse(content) : content
  return { status, headers, text: content, body }
}

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Scripted {
  readonly status: number
  /** Sent as JSON, or unchanged if it is a string. */
  readonly body: unknown
  readonly headers?: Record<string, string>
}

interface Received {
  readonly line: string
  readonly headers: IncomingHttpHeaders
}

/**
 * A store that answers each "METHOD /path" with its next scripted answer, and 404 after the last one. It stops when the
 * test ends.
 */
export async function scriptedStore(script: Readonly<Record<string, readonly Scripted[]>>) {
  const received: Received[] = []
  const used = new Map<string, number>()
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`
    received.push({ line, headers: request.headers })
    const turn = used.get(line) ?? 0
    used.set(line, turn + 1)
    const { status, body, headers = {} } = script[line]?.[turn] ?? { status: 404, body: {} }
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received }
}

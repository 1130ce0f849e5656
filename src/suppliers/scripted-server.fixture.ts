import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createZenditClient } from './zendit/client.ts'

/** A request that the scripted supplier got. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** Its reply: an answer, or a fault that only a real socket shows. */
export type Reply =
  | { readonly status?: number; readonly json: unknown }
  | { readonly status?: number; readonly text: string; readonly headers?: Record<string, string> }
  /** Never answers. */
  | 'hang'
  /** Starts an answer and never ends it. */
  | 'stall'
  /** Breaks the connection. */
  | 'reset'

export type ScriptOf = (asked: RecordedRequest) => Reply

/** Starts a supplier for tests on a real socket. The test decides every answer. */
export async function startScripted(script: ScriptOf) {
  const log: RecordedRequest[] = []
  const server = createServer(async (request, response) => {
    const asked = await askedBy(request)
    log.push(asked)
    play(script(asked), request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, asked: log as readonly RecordedRequest[], close }
}

/** The same until the test ends, with a client, which is patient, so that answers arrive in time on slow machines too. */
export async function scriptedClient(script: ScriptOf, timeoutMs = 60_000, apiKey = 'k') {
  const server = await startScripted(script)
  onTestFinished(server.close)
  return { server, client: createZenditClient({ url: `${server.url}/`, key: apiKey }, timeoutMs) }
}

async function askedBy(request: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(request.url ?? '/', 'http://localhost')
  return {
    method: request.method ?? '',
    path: url.pathname.replace(/^\/v1/, ''),
    query: url.searchParams,
    headers: request.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

function play(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply === 'hang') return
  if (reply === 'reset') {
    request.socket.resetAndDestroy()
    return
  }
  if (reply === 'stall') {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"transactionId"')
    return
  }
  const isJson = 'json' in reply
  const type = isJson ? 'application/json' : 'text/html'
  const headers = isJson ? {} : reply.headers
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...headers })
  response.end(isJson ? JSON.stringify(reply.json) : reply.text)
}

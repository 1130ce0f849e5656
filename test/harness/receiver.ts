import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const pem = (name: string) =>
  readFileSync(new URL(`../fixtures/receiver-${name}.pem`, import.meta.url), 'utf8')

/** The certificate of all receivers, for clients to trust; for hosts of example.com that exist in tests only. */
export const receiverCertificate = pem('certificate')

/** A call that was received. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The answer of a receiver: a status with optional headers, or none at all. */
export type Reply =
  | ({ readonly status: number } & Readonly<Record<string, string | number>>)
  | 'never'

/**
 * A receiver of webhooks, with TLS on loopback.
 *
 * @param reply makes the answer to a call; by default 204
 */
export async function startReceiver(reply: (call: Received) => Reply = () => ({ status: 204 })) {
  const received: Received[] = []
  const server = createServer(
    { key: pem('key'), cert: receiverCertificate },
    async (request, response) => {
      const body = await text(request)
      const call = { path: request.url ?? '', headers: request.headers, body }
      received.push(call)
      const answer = reply(call)
      if (answer === 'never') return
      const { status, ...headers } = answer
      response.writeHead(status, headers).end()
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    received,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

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
  const sockets = new Set<Duplex>()
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
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    received,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

async function text(chunks: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all).toString()
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Hex, keccak256 } from 'viem'

/**
 * `swallow`: the call never arrives. `lose_answer`: it arrives, and its answer is lost. `drop`: the node
 * claims to have accepted the transaction, and forgets it.
 */
export type Fault = 'none' | 'swallow' | 'lose_answer' | 'drop'

/** Decides the fault of a call. A promise holds the call back until it resolves. */
type FaultOf = (call: string) => Fault | Promise<Fault>

/** A proxy between a store and one of its parts that records the calls, and breaks them on demand. */
export async function startProxy(target: string) {
  const calls: string[] = []
  const state: { faultOf: FaultOf } = { faultOf: () => 'none' }
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const call = nameOf(request, body)
    calls.push(call)
    const fault = await state.faultOf(call)
    if (fault === 'swallow') return void response.destroy()
    if (fault === 'drop') return void response.end(takenBy(body))
    const answer = await passOn(target, request, body)
    const text = await answer.text()
    if (fault === 'lose_answer') return void response.destroy()
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    })
    response.end(text)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /**
     * The JSON-RPC method, or the HTTP method and path, of every call so far. An `eth_call` is followed by
     * the selector of the function.
     */
    calls,
    /** Breaks calls from now on; without an argument, ends all faults. */
    breakCalls(faultOf: FaultOf = () => 'none') {
      state.faultOf = faultOf
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function passOn(target: string, { url, method, headers }: IncomingMessage, body: Buffer) {
  return fetch(new URL(url ?? '/', target), {
    method: method ?? 'GET',
    headers: Object.fromEntries(
      ['authorization', 'content-type', 'accept'].flatMap((name) => {
        const value = headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ),
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
}

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params?: readonly unknown[]
}

export type StoryProxy = Awaited<ReturnType<typeof startProxy>>

/** The answer of a node that accepts a transaction: its hash. */
function takenBy(body: Buffer): string {
  const { id, params } = JSON.parse(body.toString()) as RpcCall
  return JSON.stringify({ jsonrpc: '2.0', id, result: keccak256(params?.[0] as Hex) })
}

function nameOf({ method, url }: IncomingMessage, body: Buffer): string {
  if (url !== '/' || body.length === 0) return `${method} ${url}`
  const { method: name, params } = JSON.parse(body.toString()) as RpcCall
  const { data } = (params?.[0] ?? {}) as { data?: string }
  return name === 'eth_call' && data ? `${name} ${data.slice(0, 10)}` : name
}

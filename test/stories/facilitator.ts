import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '../../sandbox/port.ts'

/** What a facilitator is given to submit. */
export interface HandedOver {
  readonly signature: `0x${string}`
  readonly authorization: {
    readonly from: `0x${string}`
    readonly to: `0x${string}`
    readonly value: string
    readonly validAfter: string
    readonly validBefore: string
    readonly nonce: `0x${string}`
  }
}

/** What stands beside a payment, for an index of paid resources. */
interface Listed {
  readonly resource?: { readonly url: string }
  readonly extensions?: Record<string, unknown>
}

/** What it says of a settlement. `nothing` leaves the connection open and silent. */
type Said =
  | { readonly success: boolean; readonly transaction: string; readonly errorReason?: string }
  | 'nothing'

type Settle = (payment: HandedOver) => Promise<Said>
type Verdict = { readonly isValid: boolean; readonly invalidReason?: string } | 'nothing'
type Verify = () => Verdict | Promise<Verdict>

/** A transaction hash that no chain has. */
export const madeUpHash = () => `0x${randomBytes(32).toString('hex')}`

/**
 * Stands in for a hosted x402 facilitator: it speaks its HTTP interface, and settles as a story
 * says, which may be not at all. What it says and what it does are two things.
 */
export async function startFacilitator() {
  const calls: string[] = []
  const listed: Listed[] = []
  const state: { verify: Verify; settle: Settle } = {
    verify: () => ({ isValid: true }),
    settle: async () => ({ success: false, transaction: '', errorReason: 'unexpected_error' }),
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = (request.url ?? '').slice(1)
    calls.push(call)
    const { paymentPayload } = await readJson(request)
    if (call === 'settle') listed.push(paymentPayload)
    const said =
      call === 'verify' ? await state.verify() : await state.settle(paymentPayload.payload)
    if (said === 'nothing') return
    const payer = paymentPayload.payload.authorization.from
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ network: 'eip155:84532', payer, ...said }))
  }

  // It leaves its port and comes back to it, so the port is none that the system gives to others.
  const port = await freePort()
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen()
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** What it could list of each payment that it was given to submit. */
    listed,
    verifies: (verify: Verify) => Object.assign(state, { verify }),
    settles: (settle: Settle) => Object.assign(state, { settle }),
    /** Nobody listens any more: every new connection is refused. What was begun is answered. */
    goAway: () => void server.close(),
    comeBack: listen,
    close: () => server.close().closeAllConnections(),
  }
}

export type StoryFacilitator = Awaited<ReturnType<typeof startFacilitator>>

async function readJson(
  request: IncomingMessage,
): Promise<{ paymentPayload: Listed & { payload: HandedOver } }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

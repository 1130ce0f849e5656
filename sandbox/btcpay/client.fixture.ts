import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { coins, type Ticker } from './coins.ts'
import type { BtcpayOptions } from './deps.ts'
import { startBtcpay } from './server.ts'

export const storeId = 'TestStore'
export const apiKey = 'test-key'
/** The permissions of a key that may do all that the store's owner may. */
export const everything = ['btcpay.store.canmodifystoresettings']
const webhookSecret = 'test-secret'

// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a stranger would, field by field.
type Json = any

export interface Answer {
  readonly status: number
  readonly body: Json
}

/** Sends a request to a server. `key` replaces the right API key; empty sends none. */
export async function ask(
  url: string,
  call: string,
  body?: unknown,
  key = apiKey,
): Promise<Answer> {
  const [method = 'GET', path = ''] = call.split(' ')
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key === '' ? {} : { authorization: `token ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Claims a payout that is approved at once, from a pull payment of its amount. */
export async function payOut(
  url: string,
  coin: Ticker,
  claim: { readonly destination: string; readonly amount: string },
) {
  const pull = { name: 'Refund', amount: claim.amount, currency: coin, autoApproveClaims: true }
  const { id } = (await ask(url, `POST /api/v1/stores/${storeId}/pull-payments`, pull)).body
  const body = { ...claim, payoutMethodId: coins[coin].methodId }
  return (await ask(url, `POST /api/v1/pull-payments/${id}/payouts`, body)).body
}

/** A server whose chains confirm, and whose processor sends, in about 10 ms. */
export function startTestBtcpay(options: Partial<BtcpayOptions> = {}) {
  return startBtcpay({ apiKey, storeId, confirmMs: 10, payoutMs: 10, retryMs: [], ...options })
}

interface Received {
  /** Whether the signature was made with the test's secret. */
  readonly isSigned: boolean
  readonly event: Json
}

/** Receives webhooks, and answers each with the status from `answer`. */
async function startReceiver(answer: (count: number) => number = () => 200) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const signature = createHmac('sha256', webhookSecret).update(body).digest('hex')
    const isSigned = request.headers['btcpay-sig'] === `sha256=${signature}`
    received.push({ isSigned, event: JSON.parse(body.toString()) })
    response.writeHead(answer(received.length)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const types = () => received.map(({ event }) => event.type as string)
  return { received, types, stop, url, webhook: { url, secret: webhookSecret } }
}

/** Starts servers, each with a receiver of its webhooks. Both stop after the test that started them. */
export function startWithReceiver() {
  const started = stoppedAfterEach()
  return async (options: Partial<BtcpayOptions>, answer?: (count: number) => number) => {
    const receiver = await startReceiver(answer)
    const server = await startTestBtcpay({ webhook: receiver.webhook, ...options })
    started.push(server, receiver)
    const call = (what: string, body?: unknown, key?: string) => ask(server.url, what, body, key)
    return { call, receiver, url: server.url }
  }
}

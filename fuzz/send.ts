import { once } from 'node:events'
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from 'node:http'
import { text } from 'node:stream/consumers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signPayment } from '../test/harness/payer.ts'
import { bodyFor, termsOf } from '../test/stories/requests.ts'
import { bytesOf, changed, type Input, type Kind } from './inputs.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Without an answer within this time, the store counts as hanging. */
const maxAnswerMs = 30_000
/** Well within the five minutes for which a quote is valid. */
const paymentMs = 100_000

/** Sends inputs over one connection, each as another client, so that no rate limit applies. */
export function createSender({ url, port }: { readonly url: string; readonly port: number }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const paymentOf = createPayments(url)
  let count = 0
  return {
    async send(input: Input): Promise<Answer> {
      count += 1
      const client = [10, count >> 16, count >> 8, count].map((part) => part & 255).join('.')
      const headers = { ...(await headersOf(input, paymentOf)), 'x-forwarded-for': client }
      const query = input.query.map(([name, value]) => `${name}=${value}`).join('&')
      const path = query === '' ? input.path : `${input.path}?${query}`
      const signal = AbortSignal.timeout(maxAnswerMs)
      const { method, body } = input
      const options = { host: '127.0.0.1', port, method, path, headers, agent, signal }
      return answerTo(options, body && bytesOf(body))
    },
    close: () => agent.destroy(),
  }
}

/** Validly signed payments of a wallet without funds, by kind. */
function createPayments(url: string) {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const signed = new Map<Kind, { readonly payload: unknown; readonly at: number }>()
  return async (kind: Kind): Promise<unknown> => {
    const known = signed.get(kind)
    if (known && performance.now() - known.at < paymentMs) return known.payload
    const { header } = await signPayment(wallet, await termsOf(url, kind, bodyFor(kind, 'OK')))
    const payload: unknown = JSON.parse(Buffer.from(header, 'base64').toString())
    signed.set(kind, { payload, at: performance.now() })
    return payload
  }
}

async function headersOf(
  { headers, body, payment }: Input,
  paymentOf: (kind: Kind) => Promise<unknown>,
): Promise<Record<string, string>> {
  const isJson = body !== undefined && /^[{["]/.test(body.text)
  const all: Record<string, string> = {
    ...(body && {
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
    }),
    ...(body?.coding === 'gzip' && { 'content-encoding': 'gzip' }),
    ...headers,
  }
  if (payment) {
    const payload = JSON.stringify(changed(await paymentOf(payment.kind), payment.changes))
    all['payment-signature'] = Buffer.from(payload ?? '').toString('base64')
  }
  return all
}

async function answerTo(options: RequestOptions, body: Buffer | undefined): Promise<Answer> {
  const outgoing = request(options)
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: await text(response) }
}

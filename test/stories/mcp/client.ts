import { randomBytes } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Accepts, SignOptions } from '../../harness/payer.ts'
import type { Buyer } from '../buyer.ts'

/**
 * The official clients: SDK 2.x in both generations of the protocol, and SDK 1.x, which most hosts run.
 * Once it has listed the tools, SDK 1.x holds errors to the output schema of their tool, too.
 */
export const versions = ['2026-07-28', '2025-11-25', 'SDK 1.x'] as const
export type Version = (typeof versions)[number]

/** What a tool said. Results are looked at field by field, as answers of HTTP are. */
export interface Result {
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a result is what is tested
  readonly data: any
  /** The texts beside the data. */
  readonly texts: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a result is what is tested
  readonly meta: any
}

export type Arguments = Record<string, unknown>
export type CallTool = (name: string, args?: Arguments, meta?: Arguments) => Promise<Result>

/** What the host of a client has set, and how it shows pages to a person. */
interface HostOptions {
  /** The query of the address. */
  readonly settings?: string
  /** Shows a page; only a client with this says that it can. */
  readonly visit?: (url: string) => Promise<'accept' | 'decline'>
}

/** An official client, which checks what tools say against their output schemas. */
export async function openClient(
  { url }: { readonly url: string },
  version: Version,
  { settings = '', visit }: HostOptions = {},
) {
  const client = await connected(new URL(`/mcp${settings}`, url), version, visit !== undefined)
  // Those of 2025-11-25 hear of a page by an error, which their host acts on.
  if (visit && version === '2026-07-28') {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await visit('url' in params ? params.url : ''),
    }))
  }
  const call: CallTool = async (name, args = {}, meta = {}) =>
    resultOf(await client.callTool({ name, arguments: args, _meta: meta }))
  const close = () => client.close()
  return { client, call, close, [Symbol.asyncDispose]: close }
}

const story = { name: 'story', version: '1.0.0' }

async function connected(address: URL, version: Version, elicitsUrls: boolean): Promise<Client> {
  const capabilities = elicitsUrls ? { elicitation: { url: {} } } : {}
  if (version === 'SDK 1.x') {
    const client = new FirstClient(story, { capabilities })
    const transport = new FirstTransport(address, { fetch: fromAnywhere })
    await client.connect(transport as Parameters<typeof client.connect>[0])
    // What the stories ask of a client is the same in both.
    return client as unknown as Client
  }
  const mode = version === '2026-07-28' ? { pin: version } : 'legacy'
  const client = new Client(story, { versionNegotiation: { mode }, capabilities })
  const transport = new StreamableHTTPClientTransport(address, { fetch: fromAnywhere })
  // The transport has accessors that may give undefined where the interface has optional fields.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return client
}

/** A store that trusts a proxy counts every request for another client. */
function fromAnywhere(input: string | URL, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  headers.set('x-forwarded-for', [10, ...randomBytes(3)].join('.'))
  return fetch(input, { ...init, headers })
}

export type McpClient = Awaited<ReturnType<typeof openClient>>

function resultOf(result: Awaited<ReturnType<Client['callTool']>>): Result {
  return {
    isError: result.isError === true,
    data: result.structuredContent,
    texts: result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    meta: result._meta ?? {},
  }
}

/** A payment for these terms as tools take it. */
export async function paymentFor(
  buyer: Buyer,
  accepts: Accepts,
  options: SignOptions = {},
): Promise<Arguments> {
  const { header } = await buyer.sign(accepts, options)
  return JSON.parse(Buffer.from(header, 'base64').toString())
}

export const newKey = () => `mcp-${randomBytes(12).toString('hex')}`

/** Asks for the price, signs, and buys, however often the buyer has bought the same. */
export async function buyWith(
  call: CallTool,
  buyer: Buyer,
  wanted: Arguments,
  options: SignOptions = {},
) {
  const args = { idempotency_key: newKey(), confirmAnother: true, ...wanted }
  const asked = await call('buy', args)
  const [accepts] = asked.data.accepts
  const payment = await paymentFor(buyer, accepts, options)
  const send = (more: Arguments = {}) =>
    call('buy', { ...args, ...more }, { 'x402/payment': payment })
  return { asked, payment, send, bought: await send() }
}

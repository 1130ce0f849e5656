import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'
import {
  invalidParameter,
  nearParameter,
  oneOf,
  type Param,
  readParams,
} from '../catalog/search/params.ts'
import { inQuery } from '../http/call.ts'
import { type Usdc, usdcFromText } from '../lib/money.ts'

/** The settings of a model's host, in the query of the MCP URL that it is configured with. */
export interface HostSettings {
  readonly approveAbove?: Usdc | undefined
  /** Goods are shown only by links, even if the model sets `include_goods`. */
  readonly goods?: 'link' | undefined
}

const amount: Param<Usdc> = {
  schema: { type: 'string', pattern: String.raw`^\d{1,9}(\.\d{1,6})?$` },
  parse(name, value) {
    if (/^\d{1,9}(\.\d{1,6})?$/.test(value)) return usdcFromText(value)
    throw invalidParameter(
      name,
      `${name} must be an amount in USDC with at most 6 decimals, such as 5.`,
    )
  },
}

const settings = { approveAboveUsdc: amount, goods: oneOf(['link']) }

/** Parts of parameter names that are probably meant as a setting of this store. */
const meantHere =
  /appro|abov|usdc?|limit|max|budget|spen|price|amount|good|code|link|reveal|person/i

/**
 * Reads the settings in a URL. A name that may be a misspelt setting is refused, because a limit that is silently
 * ignored would protect nobody. Other parameters, such as the `api_key` that registries and gateways add to every
 * URL, are ignored.
 *
 * @throws Refusal `unknown_parameter`, `repeated_parameter`, `invalid_parameter`
 */
export function hostSettingsIn(url: string): HostSettings {
  const [path, query = ''] = url.split(/\?(.*)/s)
  const ownPairs = query.split('&').filter((pair) => mayBeMeantHere(pair.split('=', 1)[0] ?? ''))
  const paramSource = inQuery(`${path}?${ownPairs.join('&')}`)
  const { approveAboveUsdc: approveAbove, goods } = readParams(paramSource, settings)
  return { approveAbove, goods }
}

/** An encoded name is kept, because its meaning is known only after decoding. */
function mayBeMeantHere(name: string): boolean {
  const names = Object.keys(settings)
  return /[%+]/.test(name) || meantHere.test(name) || nearParameter(name, names) !== undefined
}

export interface Destination {
  readonly url: string
  readonly message: string
}

/** How a client can bring a person to a page, if at all (MCP, "URL mode elicitation"). */
export interface Person {
  /** By a result that asks for input (2026-07-28), or by an error (2025-11-25); undefined if it cannot. */
  readonly reached: 'by_result' | 'by_error' | undefined
  /** Whether the client repeats this call after it brought the person there. */
  readonly isBack: boolean
}

const mark = 'elicits-urls.'

/**
 * A session id for a client of 2025-11-25, which declares its capabilities only in its first request. The id carries
 * only that the client supports URL elicitation; the store keeps no session.
 */
export function sessionFor(body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as {
    readonly method?: unknown
    readonly params?: { readonly capabilities?: unknown } | null
  }
  const isFirst = method === 'initialize' && elicitsUrls(params?.capabilities)
  return isFirst ? `${mark}${randomUUID()}` : undefined
}

export function personOf({ mcpReq }: ServerContext, session: string | undefined): Person {
  const isBack = mcpReq.inputResponses !== undefined
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
  if (elicitsUrls(envelope[CLIENT_CAPABILITIES_META_KEY])) {
    return { reached: 'by_result', isBack }
  }
  return { reached: session?.startsWith(mark) ? 'by_error' : undefined, isBack }
}

/** The result that brings a person to a page, for clients of 2026-07-28. */
export function visitResult({ url, message }: Destination): InputRequiredResult {
  return inputRequired({ inputRequests: { visit: inputRequired.elicitUrl({ url, message }) } })
}

/** The error that does so in 2025-11-25. The client, or its model, then repeats the call. */
export function visitError({ url, message }: Destination): UrlElicitationRequiredError {
  const elicitationId = randomUUID()
  return new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message }], message)
}

function elicitsUrls(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as {
    readonly elicitation?: { url?: unknown } | null
  }
  return typeof elicitation?.url === 'object' && elicitation.url !== null
}

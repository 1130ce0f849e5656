import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'

/** A page that a person is to open. */
export interface Visit {
  readonly url: string
  /** Why, in a sentence for them. */
  readonly message: string
}

/** How a client can bring a person to a page, if at all (MCP, "URL mode elicitation"). */
export interface Person {
  /** By a result that asks for input (2026-07-28), or by an error (2025-11-25); undefined if it cannot. */
  readonly reached: 'by_result' | 'by_error' | undefined
  /** Whether the client repeats this call after it brought the person there. */
  readonly isBack: boolean
}

/** The prefix of a session id whose client supports URL elicitation. */
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

/** @param session the session id that the client sends, if any */
export function personOf({ mcpReq }: ServerContext, session: string | undefined): Person {
  const isBack = mcpReq.inputResponses !== undefined
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
  if (elicitsUrls(envelope[CLIENT_CAPABILITIES_META_KEY])) {
    return { reached: 'by_result', isBack }
  }
  return { reached: session?.startsWith(mark) ? 'by_error' : undefined, isBack }
}

/** The result that brings a person to a page, for clients of 2026-07-28. */
export function visitResult({ url, message }: Visit): InputRequiredResult {
  return inputRequired({ inputRequests: { visit: inputRequired.elicitUrl({ url, message }) } })
}

/** The error that does so in 2025-11-25. The client, or its model, then repeats the call. */
export function visitError({ url, message }: Visit): UrlElicitationRequiredError {
  const elicitationId = randomUUID()
  return new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message }], message)
}

function elicitsUrls(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as {
    readonly elicitation?: { url?: unknown } | null
  }
  return typeof elicitation?.url === 'object' && elicitation.url !== null
}

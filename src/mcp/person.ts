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

/** How a client brings a person to a page, if it can (MCP, "URL mode elicitation"). */
export interface Person {
  /** 2026-07-28 by a result that asks for input, 2025-11-25 by an error. */
  readonly reached: 'by_result' | 'by_error' | undefined
  /** Whether this very call comes again after they were brought there. */
  readonly isBack: boolean
}

/** What says in the id of a session that its client shows addresses to a person. */
const mark = 'elicits-urls.'

/**
 * The id of a session for a client of 2025-11-25, which says only in its first request what it can do.
 * Nothing else is in it, and nothing is kept.
 */
export function sessionFor(body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as {
    readonly method?: unknown
    readonly params?: { readonly capabilities?: unknown } | null
  }
  const isFirst = method === 'initialize' && elicitsUrls(params?.capabilities)
  return isFirst ? `${mark}${randomUUID()}` : undefined
}

/** @param session the id that the client sends, where it has one */
export function personOf({ mcpReq }: ServerContext, session: string | undefined): Person {
  const isBack = mcpReq.inputResponses !== undefined
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
  if (elicitsUrls(envelope[CLIENT_CAPABILITIES_META_KEY])) {
    return { reached: 'by_result', isBack }
  }
  return { reached: session?.startsWith(mark) ? 'by_error' : undefined, isBack }
}

/** The result that brings a person to a page, for clients that know it. */
export function visitResult({ url, message }: Visit): InputRequiredResult {
  return inputRequired({ inputRequests: { visit: inputRequired.elicitUrl({ url, message }) } })
}

/** The error that does so in 2025-11-25. The client calls again by itself, or its model does. */
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

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Ask, type Fault, noterOf, reasonOf, tell, type Visit } from './visit.ts'

export const mcpFaults = {
  mcp_missing: {
    level: 'note',
    what: 'There is no MCP server at /mcp.',
    mend: 'Let the proxy pass this path on to the store, so that assistants can shop without a client of their own.',
  },
  mcp_broken: {
    level: 'warn',
    what: 'The MCP server answers, but the official client cannot list its tools.',
    mend: 'Keep the proxy from buffering or changing its answers, and run the MCP inspector against it.',
  },
} as const satisfies Readonly<Record<string, Fault>>

const note = noterOf(mcpFaults)
const timeout = 15_000

/** Whether the official client can connect and list the tools. */
export async function checkMcp(visit: Visit): Promise<void> {
  // An MCP server answers this GET with another status than 404 or 410.
  const there = await visit.ask('/mcp', { headers: { accept: 'application/json' } })
  if (there.status === 404 || there.status === 410) {
    note(visit, 'mcp_missing', '/mcp', tell(there))
    return
  }
  const client = new Client({ name: 'kiosk402-doctor', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', visit.origin), {
    fetch: boundedFetch(visit.ask),
  })
  try {
    await client.connect(transport, { timeout })
    await client.listTools({}, { timeout })
  } catch (error) {
    note(visit, 'mcp_broken', '/mcp', reasonOf(error))
  } finally {
    await client.close()
  }
}

/** A fetch for the client with the doctor's limits. A request without an answer fails as a network error. */
function boundedFetch(ask: Ask): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, { method = 'GET', headers: given, body } = {}) => {
    const headers = Object.fromEntries(new Headers(given))
    const answer = await ask(String(input), {
      method,
      headers,
      ...(typeof body === 'string' ? { body } : {}),
    })
    if (answer.failed !== undefined) throw new TypeError(answer.failed)
    const isEmpty = [101, 204, 205, 304].includes(answer.status)
    const { status, headers: answered, text } = answer
    return new Response(isEmpty ? null : text, { status, headers: answered })
  }
}

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Ask, tell } from '../ask.ts'
import type { Visit } from '../findings.ts'

const where = '/mcp'
const timeoutMs = 15_000

/** Whether the official client can connect, and whether each tool has a description. */
export async function checkMcp(visit: Visit): Promise<void> {
  const { ask, note } = visit
  // An MCP server answers this GET with another status than 404 or 410.
  const there = await ask(where, { headers: { accept: 'application/json' } })
  if (there.status === 404 || there.status === 410) {
    note('mcp_missing', where, tell(there))
    return
  }
  try {
    for (const { name, description } of await toolsOf(visit)) {
      if (!description?.trim()) note('tool_undescribed', where, name)
    }
  } catch (error) {
    note('mcp_broken', where, error instanceof Error ? error.message : String(error))
  }
}

async function toolsOf({ ask, origin }: Visit) {
  const client = new Client({ name: 'kiosk402-doctor', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(where, origin), {
    fetch: boundedFetch(ask),
    reconnectionOptions: once,
  })
  try {
    await client.connect(transport, { timeout: timeoutMs })
    const { tools } = await client.listTools({}, { timeout: timeoutMs })
    return tools
  } finally {
    await client.close()
  }
}

/** No reconnection after a lost connection. */
const once = {
  maxRetries: 0,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
}

/** A fetch for the client with the doctor's limits. A request without an answer fails as a network error. */
function boundedFetch(ask: Ask): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const { method = 'GET', body } = init
    const answer = await ask(String(input), {
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === 'string' ? { body } : {}),
    })
    if (answer.failed !== undefined) throw new TypeError(answer.failed)
    const { status, headers, text } = answer
    const isEmpty = [101, 204, 205, 304].includes(status)
    return new Response(isEmpty ? null : text, { status, headers })
  }
}

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

const everyMs = 500

/**
 * Looks at what each node tells agents, again and again, and keeps every look at which it did not say
 * `pay`. Only attackers are at work meanwhile, so whatever pauses the store is their doing.
 */
export async function watchSignals(
  nodes: readonly { readonly url: string }[],
  until: AbortSignal,
): Promise<readonly string[]> {
  const pauses: string[] = []
  while (!until.aborted) {
    for (const { url } of nodes) {
      const said = await signalsOf(url)
      if (said !== 'pay') pauses.push(`${url} said ${said}`)
    }
    await delay(everyMs, undefined, { signal: until }).catch(() => {})
  }
  return pauses
}

async function signalsOf(url: string): Promise<string> {
  try {
    const headers = { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
    const answer = await fetch(`${url}/.well-known/x402`, {
      headers,
      signal: AbortSignal.timeout(10_000),
    })
    const { signals } = (await answer.json()) as { signals?: { agent_action?: string } }
    return signals?.agent_action ?? `${answer.status} without signals`
  } catch (error) {
    return `nothing: ${error instanceof Error ? error.message : error}`
  }
}

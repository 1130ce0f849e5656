import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

const everyMs = 500

/**
 * Reads the signals of each node (x402-signals) again and again, and returns every look at which a node did
 * not say `pay`. There are no kills and faults meanwhile, so only attackers can have paused the store.
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

/** The published signals (x402-signals 4.3). */
export interface Signals {
  readonly provider_health: 'healthy' | 'degraded' | 'down'
  readonly agent_action: 'pay' | 'retry_later' | 'stop'
  readonly last_updated: string
}

export type Part = 'supplier' | 'chain' | 'database' | 'catalog' | 'refunds' | 'gas'

/** How one part of the store is doing, and since when in words for an operator. */
export interface PartHealth {
  readonly state: Signals['provider_health']
  readonly detail: string
}

export type Parts = Readonly<Record<Part, PartHealth>>

/**
 * What agents are told. A database or chain that is down stops purchases, because then money
 * could move without a record or a proof; so does a supplier that answers nothing, and a wallet for
 * refunds that could not pay back what is open. An old catalog only slows agents down.
 */
export function signalsOf(parts: Parts, now: Date): Signals {
  const states = Object.values(parts).map(({ state }) => state)
  const last_updated = now.toISOString()
  if (states.includes('down')) {
    return { provider_health: 'down', agent_action: 'stop', last_updated }
  }
  if (states.includes('degraded')) {
    return { provider_health: 'degraded', agent_action: 'retry_later', last_updated }
  }
  return { provider_health: 'healthy', agent_action: 'pay', last_updated }
}

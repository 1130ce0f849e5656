/** The published signals (x402-signals 4.3). */
export interface Signals {
  readonly provider_health: 'healthy' | 'degraded' | 'down'
  readonly agent_action: 'pay' | 'retry_later' | 'stop'
  readonly last_updated: string
}

export type Part = 'supplier' | 'chain' | 'database' | 'catalog' | 'refunds' | 'gas'

/** The health of one part, with a detail for the operator. */
export interface PartHealth {
  readonly state: Signals['provider_health']
  readonly detail: string
}

export type Parts = Readonly<Record<Part, PartHealth>>

/**
 * The signals for agents. Purchases stop while the database or the chain is down, because money could
 * then move without a record or proof. They also stop while the supplier is down or the refund wallet does
 * not cover the open orders. A stale catalog only slows agents down.
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

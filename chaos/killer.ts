import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../test/model/random.ts'
import type { Parts } from './parts.ts'
import { pick } from './plan.ts'

/** How often each part was killed. */
export type Kills = Record<keyof typeof shares, number>

/** Percentages of all kills. Nodes are killed most often, because they can do most harm. */
const shares = { nodes: 70, postgres: 20, supplier: 7, chain: 3 } as const
/** The longest time that a killed part stays away, without the time of its start. */
const maxDownMs = 1_500

/** Kills a part every few seconds until the signal aborts. A killed node may still be down when it returns. */
export async function killAgainAndAgain(
  parts: Pick<Parts, 'nodes' | 'database' | 'supplier' | 'chain'>,
  options: { readonly seed: number; readonly everySeconds: number; readonly until: AbortSignal },
): Promise<Kills> {
  const random = seeded(options.seed ^ 0x6b696c6c)
  const kills: Kills = { nodes: 0, postgres: 0, supplier: 0, chain: 0 }
  const kill: Record<keyof Kills, (downMs: number) => Promise<void>> = {
    nodes: (downMs) => pick(random, parts.nodes).kill(downMs),
    postgres: parts.database.kill,
    supplier: parts.supplier.kill,
    chain: parts.chain.kill,
  }
  for (;;) {
    const waitMs = options.everySeconds * 1_000 * (0.5 + random())
    await delay(waitMs, undefined, { signal: options.until }).catch(() => {})
    if (options.until.aborted) return kills
    const part = drawn(random() * 100)
    await kill[part](random() * maxDownMs)
    kills[part] += 1
  }
}

function drawn(at: number): keyof Kills {
  let sum = 0
  for (const [part, share] of Object.entries(shares) as [keyof Kills, number][]) {
    sum += share
    if (at < sum) return part
  }
  return 'nodes'
}

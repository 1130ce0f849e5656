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

export interface Killing {
  readonly seed: number
  readonly everySeconds: number
  /** How long it goes on. It takes longer if not every part was killed by then, as on a busy machine. */
  readonly seconds: number
  /** Ends it at once. */
  readonly cancelled: AbortSignal
}

/**
 * Kills a part every few seconds: at first each of them once, then parts drawn by their shares. A killed node may
 * still be down when it returns.
 */
export async function killAgainAndAgain(
  parts: Pick<Parts, 'nodes' | 'database' | 'supplier' | 'chain'>,
  { seed, everySeconds, seconds, cancelled }: Killing,
): Promise<Kills> {
  const random = seeded(seed ^ 0x6b696c6c)
  const kills: Kills = { nodes: 0, postgres: 0, supplier: 0, chain: 0 }
  const kill: Record<keyof Kills, (downMs: number) => Promise<void>> = {
    nodes: (downMs) => pick(random, parts.nodes).kill(downMs),
    postgres: parts.database.kill,
    supplier: parts.supplier.kill,
    chain: parts.chain.kill,
  }
  const spared = Object.keys(kills) as (keyof Kills)[]
  const endsAt = performance.now() + seconds * 1_000
  for (;;) {
    const waitMs = everySeconds * 1_000 * (0.5 + random())
    const leftMs = spared.length > 0 ? waitMs : Math.max(0, endsAt - performance.now())
    await delay(Math.min(waitMs, leftMs), undefined, { signal: cancelled }).catch(() => {})
    if (cancelled.aborted || leftMs < waitMs) return kills
    const part = spared.shift() ?? drawn(random() * 100)
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

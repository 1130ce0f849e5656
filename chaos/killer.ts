import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../test/model/random.ts'
import type { Parts } from './parts.ts'
import { pick } from './plan.ts'

export interface Kills {
  readonly nodes: number
  readonly postgres: number
}

/** One kill in four is the database's, which all nodes share. */
const postgresShare = 0.25
/** How long a killed part stays away at most, besides the time of its start. */
const downMostMs = 1_500

/** Kills a part every few seconds until the signal says stop. Returns with all parts on the way back. */
export async function killAgainAndAgain(
  { nodes, database }: Pick<Parts, 'nodes' | 'database'>,
  options: { readonly seed: number; readonly everySeconds: number; readonly until: AbortSignal },
): Promise<Kills> {
  const random = seeded(options.seed ^ 0x6b696c6c)
  const kills = { nodes: 0, postgres: 0 }
  for (;;) {
    const waitMs = options.everySeconds * 1_000 * (0.5 + random())
    await delay(waitMs, undefined, { signal: options.until }).catch(() => {})
    if (options.until.aborted) return kills
    const downMs = random() * downMostMs
    if (random() < postgresShare) {
      await database.kill(downMs)
      kills.postgres += 1
    } else {
      await pick(random, nodes).kill(downMs)
      kills.nodes += 1
    }
  }
}

import type { BlockTime } from './block-times.ts'

/**
 * How long a shown block counts, in milliseconds. A chain that a reorganisation made shorter has grown
 * again by then, and a number that was a node's mistake is forgotten.
 */
const shownMs = 60_000

/**
 * The newest block that a provider shows, and never an older one than it showed in the last minute. Several
 * nodes may answer behind one address, each some blocks behind: what the newest of them has shown does not
 * vanish when a lagging one answers next. A question at the number of that block fails at a node that lags.
 *
 * @param ask reads the newest block of the node that answers
 */
export function newestShown(ask: () => Promise<BlockTime>): () => Promise<BlockTime> {
  let shown: { readonly block: BlockTime; readonly at: number } | undefined
  return async () => {
    const { number, timestamp } = await ask()
    const now = performance.now()
    if (shown && number < shown.block.number && now - shown.at < shownMs) return shown.block
    shown = { block: { number, timestamp }, at: now }
    return shown.block
  }
}

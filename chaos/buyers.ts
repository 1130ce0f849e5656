import type { Seen } from './facts.ts'
import type { Parts } from './parts.ts'
import { planOf } from './plan.ts'
import { buy } from './purchase.ts'

export interface BuyersOptions {
  readonly seed: number
  readonly parts: Pick<Parts, 'newAccount' | 'nodes'>
  /** The most purchases to begin, and how many have begun. */
  readonly orders: number
  readonly begun: { count: number }
  /** Aborted when no new purchase may begin. */
  readonly closing: AbortSignal
  /** Aborted when nobody waits for an order any longer. */
  readonly closed: AbortSignal
}

const buyers = 12
/** The most unfinished purchases of one buyer. */
const maxOpen = 12
/** A buyer changes the wallet after this many purchases, because the store counts failures by wallet. */
const purchasesPerWallet = 2

/** Buyers begin purchases until there are enough, and then wait for the end of all they paid for. */
export async function shop(options: BuyersOptions): Promise<readonly Seen[]> {
  const all = Array.from({ length: buyers }, (_, at) => shopAlone(options, at))
  return (await Promise.all(all)).flat()
}

async function shopAlone(
  { seed, parts, orders, begun, closing, closed }: BuyersOptions,
  at: number,
): Promise<readonly Seen[]> {
  const nodes = parts.nodes.map(({ url }) => url)
  const seen: Seen[] = []
  const open = new Set<Promise<void>>()
  let account = await parts.newAccount()
  for (let count = 0; !closing.aborted && begun.count < orders; count += 1) {
    begun.count += 1
    if (count > 0 && count % purchasesPerWallet === 0) account = await parts.newAccount()
    const plan = planOf(seed, at, count)
    const name = `b${at}-${count}`
    const bought = await buy({ name, account, plan, nodes, closing: closed })
    seen.push(bought.seen)
    const followed = bought.followed.finally(() => open.delete(followed))
    open.add(followed)
    if (open.size >= maxOpen) await Promise.race(open)
  }
  await Promise.all(open)
  return seen
}

import { buyAgainAndAgain } from './buyer.ts'
import { type Figure, figure, quantile, ratio } from './figures.ts'
import { leaveOrders } from './open-orders.ts'
import { endless, newDatabase, type Parts, startParts, withStore } from './shop.ts'

const rounds = 3

/**
 * Whether a backlog slows new purchases: the store's own part of a purchase over a database with ten
 * thousand orders that the supplier does not end, which the sweep looks up all the time, against the
 * same over an empty database. Both are measured in turn, because the machine changes its speed.
 */
export async function measureBacklog(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const none = await newDatabase(parts, 'none_open')
    const many = await newDatabase(parts, 'many_open')
    // As the pauses between two looks spread them.
    await leaveOrders(many, { count: 10_000, mark: endless, leasedSeconds: 0, spreadSeconds: 15 })
    const own = { none: [] as number[], many: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      own.none.push(...(await buyOver(parts, none)))
      own.many.push(...(await buyOver(parts, many)))
    }
    const [slow, quick] = [quantile(own.many, 0.5), quantile(own.none, 0.5)]
    return [
      figure('A purchase, own part, with 10000 orders open, p50', slow, 'ms'),
      figure('A purchase, own part, with none open, in turn with it, p50', quick, 'ms'),
      ratio('10000 open orders against none', slow / quick, 1.1),
    ]
  } finally {
    await parts.stop()
  }
}

function buyOver(parts: Parts, databaseUrl: string): Promise<readonly number[]> {
  return withStore(parts, databaseUrl, async (store) => {
    return (await buyAgainAndAgain(parts, store, { purchases: 70, warmUp: 20 })).own
  })
}

import { type Bought, buyAgainAndAgain } from './buyer.ts'
import { type Figure, figure, quantile, ratio } from './figures.ts'
import { leaveOrders } from './open-orders.ts'
import { endless, newDatabase, type Parts, startParts, withStore } from './shop.ts'

const rounds = 4
const count = 10_000

/**
 * Whether a backlog slows new purchases. Compares the store's own part of a purchase on a database with
 * 10,000 orders that the supplier never finishes, and that the sweep keeps looking up, with the same on
 * an empty database. The two alternate, and take turns in going first, because the speed of the machine
 * varies.
 */
export async function measureBacklog(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const none = await newDatabase(parts, 'none_open')
    const many = await newDatabase(parts, 'many_open')
    // With this many orders a node is 100 s behind, so every take of the sweep is full.
    await leaveOrders(many, { count, mark: endless, leasedSeconds: 0, spreadSeconds: -100 })
    const without: Bought[] = []
    const beside: Bought[] = []
    for (let round = 0; round < rounds; round += 1) {
      const turns = [() => buyOver(parts, none, without), () => buyOver(parts, many, beside)]
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn()
    }
    return figuresOf(without, beside)
  } finally {
    await parts.stop()
  }
}

function figuresOf(without: readonly Bought[], beside: readonly Bought[]): Figure[] {
  const median = (all: readonly Bought[], part: 'own' | 'total') =>
    quantile(
      all.flatMap((bought) => bought[part]),
      0.5,
    )
  const own = [median(beside, 'own'), median(without, 'own')] as const
  const whole = median(beside, 'total') / median(without, 'total')
  return [
    figure(`A purchase, own part, with ${count} orders open, p50`, own[0], 'ms'),
    figure('A purchase, own part, with none open, in turn with it, p50', own[1], 'ms'),
    { ...ratio(`${count} open orders against none, own part`, own[0] / own[1], 1.1), note },
    ratio('The same, from request to goods', whole),
  ]
}

const note =
  'Every order of the backlog was paid and asked for, the supplier never ends it, and all are due: the sweep looks up as many as it may during every purchase. What it waits for meanwhile is not taken off the purchase. The supplier answers from the same process, so its work is in the ratio as well.'

async function buyOver(parts: Parts, databaseUrl: string, all: Bought[]): Promise<void> {
  const bought = await withStore(parts, databaseUrl, (store) =>
    buyAgainAndAgain(parts, store, { purchases: 70, warmUp: 20 }),
  )
  all.push(bought)
}

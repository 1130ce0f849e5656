import pg from 'pg'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import { newTender, pending } from '../test/contract/sample-orders.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { newDatabase, startParts } from './shop.ts'

const rounds = 400
const warmUp = 50
const atOnce = 16

/**
 * The statement by which one of many equal requests takes the payment: two nodes with a pool each on
 * a PostgreSQL that syncs to disk, sixteen requests with one payment at the same moment.
 *
 * @throws when not exactly one of them wins
 */
export async function measureClaims(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const claims = await claimAgainAndAgain(await newDatabase(parts, 'claims'))
    return [
      figure(
        'Claiming a payment, 16 equal requests on two nodes, p50',
        quantile(claims, 0.5),
        'ms',
      ),
      figure('The same, p99; exactly one of them won each time', quantile(claims, 0.99), 'ms', 20),
    ]
  } finally {
    await parts.stop()
  }
}

async function claimAgainAndAgain(connectionString: string): Promise<readonly number[]> {
  const pools = [1, 2].map(() => new pg.Pool({ connectionString, max: 10 }))
  const claims: number[] = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      const times = await claimTogether(pools)
      if (round >= warmUp) claims.push(...times)
    }
    return claims
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

/** How long each of them took, in milliseconds. */
async function claimTogether(pools: readonly pg.Pool[]): Promise<readonly number[]> {
  const stores = pools.map((pool) => createOrderStore(pool))
  const tender = newTender()
  const opened = await Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      const startedAt = performance.now()
      const answer = await stores[at % stores.length]?.open(pending({ tender }), [tender.nonce])
      return { isNew: answer?.isNew === true, took: performance.now() - startedAt }
    }),
  )
  const winners = opened.filter(({ isNew }) => isNew).length
  if (winners !== 1) throw new Error(`${winners} of ${atOnce} equal requests won`)
  return opened.map(({ took }) => took)
}

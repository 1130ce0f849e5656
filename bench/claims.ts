import pg from 'pg'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import type { Sealed } from '../src/secrets/vault.ts'
import { pending } from '../test/contract/sample-orders.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { newDatabase, startParts } from './shop.ts'

const rounds = 400
const warmUp = 50
const atOnce = 16

const scope =
  'Two pools of one process on a PostgreSQL that syncs to disk, eight requests from each; the time of a loser ends when it has read the order of the winner.'

/**
 * The statement with which one of many equal requests claims the payment: two nodes with a pool each, on
 * a PostgreSQL that syncs to disk, and 16 simultaneous requests with the same payment.
 *
 * @throws unless exactly one request opens the order, and all others get its order
 */
export async function measureClaims(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const claims = await claimAgainAndAgain(await newDatabase(parts, 'claims'))
    const what = `Claiming a payment, ${atOnce} equal requests on two nodes`
    const wins = `${rounds - warmUp} rounds; the run ends with an error unless exactly one of ${atOnce} wins in each, and the others get its order.`
    return [
      { ...figure(`${what}, p50`, quantile(claims, 0.5), 'ms'), note: `${wins} ${scope}` },
      figure('The same, p99', quantile(claims, 0.99), 'ms', 20),
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

/** The time of each request; milliseconds. */
async function claimTogether(pools: readonly pg.Pool[]): Promise<readonly number[]> {
  const stores = pools.map((pool) => createOrderStore(pool))
  // Equal requests have the same order id, because it is derived from the payment, and each seals its recipient anew.
  const order = pending()
  const own = (at: number) => ({ ...order, recipient: `v1.sealed.${at}` as Sealed })
  const opened = await Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      const startedAt = performance.now()
      const answer = await stores[at % stores.length]?.open(own(at), [order.tender.nonce])
      return { answer, took: performance.now() - startedAt }
    }),
  )
  const winners = opened.filter(({ answer }) => answer?.isNew).length
  if (winners !== 1) throw new Error(`${winners} of ${atOnce} equal requests won`)
  const { recipient } = own(opened.findIndex(({ answer }) => answer?.isNew))
  const strangers = opened.filter(({ answer }) => answer?.order.recipient !== recipient).length
  if (strangers > 0) throw new Error(`${strangers} of ${atOnce} equal requests got another order`)
  return opened.map(({ took }) => took)
}

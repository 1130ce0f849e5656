import type { Pool } from 'pg'
import { beforeEach } from 'vitest'
import { usdc } from '../../lib/money.ts'
import { createCheckoutStore } from './checkouts.ts'
import { createApprovalStore, createLimitStore } from './limits.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

/** Caps that nothing reaches. */
const endlessCaps = { hour: usdc(10n ** 50n), day: usdc(10n ** 50n) }

/** A new database for each test, with the store under test as two nodes have it. */
export function twoNodes<Store>(create: (pool: Pool) => Store) {
  const postgres = migratedPostgres()
  const open = async () => {
    const [pool, otherPool] = await postgres.openForTwo()
    return {
      ...{ pool, store: create(pool), other: create(otherPool) },
      ...{ orders: createOrderStore(pool), checkouts: createCheckoutStore(pool) },
      ...{ limits: createLimitStore(otherPool), approvals: createApprovalStore(otherPool) },
      payoutLimits: createPayoutLimits(pool, endlessCaps),
      pass: (ms: number) => pass(pool, ms),
      async endLease(id: string) {
        for (const table of ['orders', 'checkouts']) {
          await pool.query(`update ${table} set locked_until = now() where id = $1`, [id])
        }
      },
      close: async () => void (await Promise.all([pool.end(), otherPool.end()])),
    }
  }
  let nodes: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    nodes = await open()
    return nodes.close
  })
  return () => nodes
}

const times = {
  orders: ['due_at', 'locked_until', 'finished_at'],
  ledger: ['at'],
  refund_claims: ['created_at'],
  checkouts: ['due_at', 'locked_until', 'finished_at'],
  payout_grants: ['granted_at'],
  payment_reservations: ['reserved_at'],
  processor_payouts: ['waits_since'],
  order_webhooks: ['opened_at', 'redelivered_at'],
  webhook_events: ['at', 'due_at', 'give_up_at', 'locked_until'],
}

/** Lets time pass for everything on record. The guards let nobody do that, so they are switched off. */
async function pass(pool: Pool, ms: number): Promise<void> {
  const earlier = `- ${ms} * interval '1 ms'`
  const updates = Object.entries(times).map(([table, columns]) => {
    return `update ${table} set ${columns.map((name) => `${name} = ${name} ${earlier}`).join()};`
  })
  await pool.query(`begin; set local session_replication_role = replica; ${updates.join('')}
    update payment_reservations
      set under_way = array(select mark ${earlier} from unnest(under_way) mark);
    commit`)
}

/** Calls `act` this many times at once, alternating between two nodes. */
export function inTurn<Node, Answer>(
  { store, other }: { readonly store: Node; readonly other: Node },
  times: number,
  act: (node: Node, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: times }, (_, index) => act(index % 2 ? store : other, index)),
  )
}

import type { Tender } from '../payments/payment.ts'
import { type AdvanceDeps, advance } from './advance.ts'

/**
 * Goes on with orders that a crash, a slow supplier or an impatient client left behind.
 *
 * @param rail only with orders that were paid in this way
 * @returns how many orders were taken; when it is `limit`, there may be more
 */
export async function sweep(
  deps: AdvanceDeps,
  limit: number,
  rail?: Tender['rail'],
): Promise<number> {
  const due = await deps.orders.claimDue(limit, rail)
  await Promise.all(
    due.map((order) =>
      advance(deps, order, 0).catch((error: unknown) => {
        deps.report({ name: 'step_failed', order: order.id, error })
      }),
    ),
  )
  return due.length
}

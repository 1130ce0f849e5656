import type { Kind } from '../../catalog/offer.ts'
import { isUnderWay } from '../../orders/order.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { FaultLog } from '../deps.ts'
import { goodsOf } from '../orders/order.ts'
import type { OrderTrackingDeps } from './deps.ts'
import { opens, recordsOf } from './order-view.ts'
import type { PageCredentials } from './tokens.ts'

/** The result of the button for the goods on the page of an order. */
export type GoodsShown =
  | {
      readonly type: 'goods'
      readonly kind: Kind
      /** The delivered goods without pictures, by their published names. */
      readonly goods: Readonly<Record<string, unknown>>
    }
  /** `locked`: the visitor has not proven that the order is theirs. */
  | { readonly type: 'locked' | 'not_yet' | 'never' }

/** The goods of an order for its buyer. @throws Refusal `try_again` */
export async function goodsFor(
  deps: OrderTrackingDeps,
  id: string,
  credentials: PageCredentials,
  log: FaultLog,
): Promise<GoodsShown> {
  return orNotNow(log, async () => {
    const records = await recordsOf(deps, id)
    if (!(await opens(deps, records, credentials))) return { type: 'locked' }
    const { order } = records
    if (order === undefined || isUnderWay(order)) return { type: 'not_yet' }
    if (order.state !== 'FULFILLED') return { type: 'never' }
    const goods = goodsOf(deps.purchases.vault, order)
    return { type: 'goods', kind: order.item.kind, goods }
  })
}

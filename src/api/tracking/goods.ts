import type { Kind } from '../../catalog/offer.ts'
import { isUnderWay } from '../../orders/order.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { FaultLog } from '../deps.ts'
import { goodsOf } from '../orders/order.ts'
import type { OrderTrackingDeps } from './deps.ts'
import { opens, recordsOf } from './order-view.ts'
import type { PageCredentials } from './tokens.ts'

/** What the button on the page of an order shows. */
export type GoodsShown =
  | {
      readonly type: 'goods'
      readonly kind: Kind
      /** What was delivered, in words, by the names that orders publish. */
      readonly goods: Readonly<Record<string, unknown>>
    }
  /** The visitor has not shown that they are theirs. */
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

import type { OrderId } from '../primitives/ids.ts'

/** What operators need to hear about. None of it carries goods, personal fields or keys. */
export type Happening =
  /** Goods were paid for at the supplier and will not reach a buyer. */
  | { readonly name: 'goods_lost'; readonly order: OrderId }
  /** Goods came too late, and the supplier took them back. */
  | { readonly name: 'goods_returned'; readonly order: OrderId }
  /** A refund that an operator must act on. */
  | { readonly name: 'refund_failed'; readonly order: OrderId; readonly reason: string }
  /** A payment that was in a block is in none any more. */
  | { readonly name: 'payment_vanished'; readonly order: OrderId }
  /** A purchase could not even be considered, because a part of the store is down or wrong. */
  | { readonly name: 'purchase_failed'; readonly error: unknown }
  /** Working on an order threw: a defect, or a part of the store that is down. */
  | { readonly name: 'step_failed'; readonly order: OrderId; readonly error: unknown }

export type Reporter = (happening: Happening) => void

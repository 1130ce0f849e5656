import type { Charge } from '../catalog/offer-base.ts'
import type { OrderId } from '../lib/ids.ts'
import type { BudgetName, Whose } from './budgets.ts'
import type { Allowance } from './ports.ts'

/** What operators need to know. None of it contains goods, personal fields or keys. */
export type StoreEvent =
  /** Goods were paid for at the supplier and will not reach a buyer. */
  | { readonly name: 'goods_lost'; readonly order: OrderId }
  /** Goods came too late, and the supplier took them back. */
  | { readonly name: 'goods_returned'; readonly order: OrderId }
  /** The supplier charged more than its list said when the goods were sold; amounts are as in `Charge`. */
  | {
      readonly name: 'charge_rose'
      readonly order: OrderId
      readonly listed: Charge
      readonly charged: Charge
    }
  /** A refund that an operator must act on; the reason is a code. */
  | { readonly name: 'refund_failed'; readonly order: OrderId; readonly reason: string }
  /** A refund waits, because refunds are stopped or a cap is reached. */
  | {
      readonly name: 'refund_held'
      readonly order: OrderId
      readonly reason: Exclude<Allowance, 'granted' | 'over_cap'>
    }
  /** Goodwill that an operator must act on; the reason is a code. */
  | { readonly name: 'goodwill_failed'; readonly order: OrderId; readonly reason: string }
  /** Goodwill waits, because refunds are stopped or a cap is reached. */
  | {
      readonly name: 'goodwill_held'
      readonly order: OrderId
      readonly reason: Exclude<Allowance, 'granted' | 'over_cap'>
    }
  /** A payment that was in a block is in none any more; it is sent again. */
  | { readonly name: 'payment_vanished'; readonly order: OrderId }
  /** A payment vanished for good. What was delivered for it is a loss. */
  | { readonly name: 'payment_lost'; readonly order: OrderId; readonly reason: string }
  /** A purchase was refused, because a budget of its payer, client or receiver is spent. */
  | { readonly name: 'budget_spent'; readonly budget: BudgetName; readonly whose: Whose }
  /** A purchase could not even be considered, because a part of the store is down or wrong. */
  | { readonly name: 'purchase_failed'; readonly error: unknown }
  /** A receiver did not take an event of an order for three days, or answered 410; the answer is a code. */
  | { readonly name: 'webhook_given_up'; readonly order: OrderId; readonly answer: string }
  /** Delivering an event threw: a defect, or a part of the store that is down. */
  | { readonly name: 'webhook_step_failed'; readonly order: OrderId; readonly error: unknown }
  /** Working on an order threw: a defect, or a part of the store that is down. */
  | { readonly name: 'step_failed'; readonly order: OrderId; readonly error: unknown }

export type Reporter = (event: StoreEvent) => void

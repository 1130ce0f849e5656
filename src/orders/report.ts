import type { Charge } from '../catalog/offer.ts'
import type { OrderId } from '../lib/ids.ts'
import type { BudgetName, Whose } from './budgets.ts'

/** `operations/reporter.ts` explains the events. None of them contains goods, personal data or keys. */
export type StoreEvent =
  | {
      readonly name: 'goods_lost' | 'goods_returned' | 'payment_vanished'
      readonly order: OrderId
    }
  | {
      readonly name: 'charge_rose'
      readonly order: OrderId
      readonly listed: Charge
      readonly charged: Charge
    }
  /** The reason is a code. */
  | {
      readonly name: `${'refund' | 'goodwill'}_${'failed' | 'held'}` | 'payment_lost'
      readonly order: OrderId
      readonly reason: string
    }
  | { readonly name: 'budget_spent'; readonly budget: BudgetName; readonly whose: Whose }
  | { readonly name: 'purchase_failed'; readonly error: unknown }
  | { readonly name: 'webhook_given_up'; readonly order: OrderId; readonly answer: string }
  | {
      readonly name: 'step_failed' | 'webhook_step_failed'
      readonly order: OrderId
      readonly error: unknown
    }

export type Reporter = (event: StoreEvent) => void

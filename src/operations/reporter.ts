import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { CheckoutEvent } from '../checkouts/ports.ts'
import type { Health } from '../health/health.ts'
import type { PartHealth, Parts } from '../health/verdict.ts'
import type { StoreEvent } from '../orders/ports.ts'
import type { EarlierWalletEvent } from '../reconcile/startup-check.ts'

export interface PartEvent {
  readonly name: 'part_down' | 'part_up'
  readonly part: keyof Parts
  readonly supplier?: string
  readonly detail: string
}

export type OperatorEvent = StoreEvent | CheckoutEvent | PartEvent | EarlierWalletEvent

interface About {
  /** `warn`: something to know. `error`: something to act on. */
  readonly level: 'warn' | 'error'
  readonly help: string
}

const warn = (help: string): About => ({ level: 'warn', help })
const error = (help: string): About => ({ level: 'error', help })

export const events: Readonly<Record<OperatorEvent['name'], About>> = {
  refund_failed: error(
    'A refund failed (`reason`). See [A refund that failed](#a-refund-that-failed).',
  ),
  refund_held: error(
    'Refunds are stopped, or a cap is reached (`reason`). The refund waits and continues by itself. While it waits, the log repeats this every hour.',
  ),
  goodwill_failed: error(
    'Goodwill failed (`reason`). [A refund that failed](#a-refund-that-failed) applies to it too.',
  ),
  goodwill_held: error('Like `refund_held`, for goodwill.'),
  goods_lost: error(
    'Goods arrived too late, or the supplier never gave a final answer. Ask the supplier for the money.',
  ),
  charge_rose: warn(
    'The supplier charged more than its list said (`listed`, `charged`). The [difference](docs/operators/suppliers.md#when-a-purchase-costs-more-than-the-list-said) is yours.',
  ),
  goods_returned: warn('Goods arrived too late, and the supplier took them back. Do nothing.'),
  payment_vanished: error(
    'The chain dropped a block with a payment in it. The store sends the payment again and refunds nothing meanwhile.',
  ),
  payment_lost: error(
    'A dropped payment can never arrive any more (`reason`). Goods delivered for it are your loss.',
  ),
  step_failed: error(
    'A step of an order failed with an error, and is tried again. If it keeps failing, it is a defect.',
  ),
  webhook_given_up: warn(
    'A buyer’s webhook did not accept an event of its order for three days, or answered 410 (`answer`). Do nothing: the order is not affected, and its buyer may request the event again, unless it answered 410.',
  ),
  webhook_step_failed: error(
    'Sending to a buyer’s webhook failed with an error, and is tried again. If it keeps failing, it is a defect.',
  ),
  return_failed: error(
    'A return of a checkout failed (`reason`). [A refund that failed](#a-refund-that-failed) applies to it too; [pay](docs/operators/treasury.md#coins) `operator_pays` by hand.',
  ),
  return_held: error('Like `refund_held`, for a return of a checkout.'),
  settled_payment_gone: error(
    'BTCPay no longer shows a payment that it called settled. Look at the invoice there: goods may have been delivered for nothing. Wait for more confirmations from now on.',
  ),
  checkout_step_failed: error('Like `step_failed`, for a checkout.'),
  invoice_gone: error(
    'BTCPay does not know an open invoice any more. See [lost invoices](docs/operators/payment-processor.md#when-btcpay-has-lost-an-invoice).',
  ),
  invoice_unread: error(
    'An invoice could not be read for an hour: BTCPay is down, or its answer is contradictory. The log says which.',
  ),
  address_taken: error(
    'BTCPay assigned an address that belongs to another checkout. A plugin with a list of addresses may need more of them ([why](docs/operators/payment-processor.md#one-checkout-one-invoice)).',
  ),
  payment_unconfirmed: error(
    'A payment in a coin has no confirmations after a day. Look at its transaction.',
  ),
  payout_waits: error(
    'A payout in a coin has waited at BTCPay for three hours: nobody approves it, its wallet is empty, or its automatic sender gave up.',
  ),
  purchase_failed: error(
    'A purchase failed, because a part of the store is down. Look at `/readyz`.',
  ),
  budget_spent: warn(
    'A purchase was refused, because too many orders of a payer, an address or a receiver failed within an hour (`budget`, `whose`). Do nothing, unless many are refused ([budgets](docs/operators/treasury.md#budgets)).',
  ),
  part_down: error(
    'A part of the store went down (`part`, `detail`), and nothing is sold meanwhile; without the processor, only coins are not taken. If it is one of several suppliers (`supplier`), the offers of the others are still sold. If it is supplier, refunds or gas, a wallet may need money: `detail` says which, and [the treasury](docs/operators/treasury.md) why.',
  ),
  earlier_wallet_used: warn(
    'Somebody with the key of an earlier refund wallet (`wallet`) sent from it after its replacement. The store takes no notice; the [reconciliation](docs/operators/reconciliation.md#another-pay_to-another-refund-wallet) shows the transfers. Leave nothing in that wallet.',
  ),
  part_up: warn('The part is up again. The store sells again, unless another part is down.'),
}

export const eventNames = Object.keys(events) as readonly OperatorEvent['name'][]

/** A payout that is held back reports it once a minute. The log repeats it this often. */
const heldLogMs = 3_600_000

/** Counts events and logs them, with the id of the request that they belong to. */
export function reporterTo(
  log: Logger,
  currentRequest: () => string | undefined = () => undefined,
  count: (name: OperatorEvent['name']) => void = () => {},
): (event: OperatorEvent) => void {
  const loggedAt = new LRUCache<string, number>({ max: 10_000 })
  return ({ name, ...facts }) => {
    count(name)
    if (name.endsWith('_held')) {
      const key = JSON.stringify([name, facts])
      const now = performance.now()
      if (now - (loggedAt.get(key) ?? -Infinity) < heldLogMs) return
      loggedAt.set(key, now)
    }
    const reqId = currentRequest()
    log[events[name].level]({ event: name, ...(reqId && { reqId }), ...facts }, name)
  }
}

/** Reports, once each, when a part goes down, also at the start, and when it is up again. */
export function partChanges(
  health: Pick<Health, 'parts' | 'suppliers'>,
  report: (event: PartEvent) => void,
): () => void {
  const down = new Set<string>()
  const look = (named: Pick<PartEvent, 'part' | 'supplier'>, { state, detail }: PartHealth) => {
    const key = JSON.stringify(named)
    const wasDown = down.has(key)
    if ((state === 'down') === wasDown) return
    if (wasDown) down.delete(key)
    else down.add(key)
    report({ name: wasDown ? 'part_up' : 'part_down', ...named, detail })
  }
  return () => {
    for (const [part, state] of Object.entries(health.parts()))
      look({ part: part as keyof Parts }, state)
    const suppliers = health.suppliers()
    // A single supplier is the part itself.
    if (suppliers.size === 1) return
    for (const [supplier, state] of suppliers) look({ part: 'supplier', supplier }, state)
  }
}

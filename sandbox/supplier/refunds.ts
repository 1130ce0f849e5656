import { randomBytes } from 'node:crypto'
import type { Timers } from '../timers.ts'
import { invalid, notFound } from './api-error.ts'
import type { Ledger, StoredPurchase, StoredRefund } from './ledger.ts'
import type { Manners } from './manners.ts'
import type { EsimPurchase, Purchase, TransactionStatus } from './models.ts'
import type { Pace } from './timeline.ts'
import { credit } from './wallet.ts'

interface RefundDeps {
  readonly ledger: Ledger
  readonly manners: Manners
  readonly timers: Timers
  readonly pace: Pace
  readonly changed: (record: Purchase) => void
}

export function refundOf(ledger: Ledger, purchaseId: string): StoredRefund | undefined {
  const found = ledger
    .all()
    .find((entry) => entry.type === 'refund' && entry.record.refundedTransactionId === purchaseId)
  return found?.type === 'refund' ? found : undefined
}

function esimOf(stored: StoredPurchase | undefined): EsimPurchase | undefined {
  return stored?.record.productType === 'ESIM' ? stored.record : undefined
}

/**
 * Starts the refund of a delivered eSIM, a CREDIT transaction of its own. A second call returns the existing refund,
 * so the money is refunded once.
 */
export function refund(deps: RefundDeps, purchaseId: string): StoredRefund {
  const stored = deps.ledger.purchase(purchaseId)
  const esim = esimOf(stored)
  if (!(stored && esim)) throw notFound(`The eSIM purchase ${purchaseId}`)
  const before = refundOf(deps.ledger, purchaseId)
  if (before) return before
  if (esim.status !== 'DONE')
    throw invalid({ transactionId: 'is not DONE, so nothing was charged' })
  const now = new Date()
  const at = now.toISOString()
  const started: StoredRefund = {
    type: 'refund',
    id: `R${randomBytes(12).toString('hex')}`,
    acceptedAt: now.getTime(),
    record: {
      amount: stored.charged,
      createdAt: at,
      currency: esim.costCurrency,
      currencyDivisor: esim.costCurrencyDivisor,
      log: [{ dateTime: at, status: 'ACCEPTED', statusMessage: 'Refund accepted' }],
      productType: 'REFUND',
      refundedTransactionId: purchaseId,
      status: 'ACCEPTED',
      transactionId: '',
      type: 'CREDIT',
      updatedAt: at,
    },
  }
  const named = { ...started, record: { ...started.record, transactionId: started.id } }
  deps.ledger.commit([named, marked(stored, 'ACCEPTED', 0)])
  scheduleRefund(deps, named)
  return named
}

/** The refunded purchase, marked with the state of its refund. */
function marked(
  stored: StoredPurchase,
  status: TransactionStatus,
  refunded: number,
): StoredPurchase {
  const esim = esimOf(stored)
  return esim ? { ...stored, refunded, record: { ...esim, refund: { status } } } : stored
}

export function scheduleRefund(deps: RefundDeps, started: StoredRefund): void {
  if (started.record.status !== 'ACCEPTED') return
  const due = started.acceptedAt + 2 * deps.pace.stepMs
  deps.timers.set(started.id, due - Date.now(), () => finishRefund(deps, started.id))
}

function finishRefund(deps: RefundDeps, id: string): void {
  const started = deps.ledger.refund(id)
  const stored = started && deps.ledger.purchase(started.record.refundedTransactionId)
  if (!stored || started.record.status !== 'ACCEPTED') return
  const manner = deps.manners.of(stored.record.offerId)
  if (manner.refund === 'stays') return
  const status = manner.refund === 'done' ? 'DONE' : 'FAILED'
  const amount = status === 'DONE' ? started.record.amount : 0
  const at = new Date().toISOString()
  const ended = { dateTime: at, status, statusMessage: 'Refund ended' } as const
  const log = [...started.record.log, ended]
  const record = { ...started.record, status, updatedAt: at, log } as const
  const purchase = marked(stored, status, amount)
  const wallet = credit(deps.ledger.wallet(), amount)
  deps.ledger.commit([{ ...started, record }, purchase], wallet)
  deps.changed(purchase.record)
}

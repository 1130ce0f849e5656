import type { Timers } from '../timers.ts'
import { type ApiError, invalid, notFound, unavailable } from './api-error.ts'
import type { Catalog } from './catalog/catalog.ts'
import { type Outcome, outcomeOf } from './catalog/test-offers.ts'
import { delivered, failureOf, insufficientFunds, withoutGoods } from './delivery.ts'
import type { Ledger, StoredPurchase } from './ledger.ts'
import type { Manner, Manners } from './manners.ts'
import type {
  EsimConfirmation,
  Offer,
  Purchase,
  SupplierError,
  TransactionStatus,
} from './models.ts'
import { type PurchaseInput, problemsOf } from './purchase-input.ts'
import { newRecord } from './record.ts'
import { nextStage, type Pace } from './timeline.ts'
import { capture, hold, release } from './wallet.ts'

export interface PurchaseDeps {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly manners: Manners
  readonly timers: Timers
  readonly pace: Pace
  /** Called after each change of state. */
  readonly changed: (record: Purchase) => void
}

const messages: Readonly<Record<TransactionStatus, string>> = {
  ACCEPTED: 'Transaction accepted',
  PENDING: 'Waiting for authorization',
  AUTHORIZED: 'Funds held',
  IN_PROGRESS: 'Sent to the provider',
  DONE: 'Completed',
  FAILED: 'Failed',
}

const isFinal = (status: TransactionStatus) => status === 'DONE' || status === 'FAILED'

function sellable(offer: Offer | undefined): offer is Offer {
  return Boolean(offer?.enabled && offer.price && offer.price.currencyDivisor > 0)
}

/**
 * Accepts a purchase, or refuses it and stores nothing. Each transactionId is accepted only once, however its purchase
 * ended: the second time is a 400 that names the field (the real answer is not documented).
 */
export function accept(deps: PurchaseDeps, input: PurchaseInput, now: Date): StoredPurchase {
  const { catalog, ledger } = deps
  const id = input.transactionId
  const manner = deps.manners.of(input.offerId)
  if (ledger.purchase(id) ?? ledger.refund(id)) throw usedBefore(manner)
  const offer = catalog.find(input.family, input.offerId)
  if (!sellable(offer)) throw notFound(`The offer ${input.offerId}`)
  const isIssued = (iccid: string) => firstDelivery(ledger, iccid) !== undefined
  const problems = problemsOf(input, offer, isIssued)
  if (Object.keys(problems).length > 0) throw invalid(problems)
  const outcome = outcomeOf(offer.offerId)
  if (outcome === 'DECLINED') throw invalid({ offerId: 'is declined by the provider' })
  const stored: StoredPurchase = {
    type: 'purchase',
    id,
    family: input.family,
    acceptedAt: now.getTime(),
    held: 0,
    charged: 0,
    refunded: 0,
    ...(input.family === 'esim' && input.iccid ? { iccid: input.iccid } : {}),
    record: dearer(newRecord(offer, input, now), manner.dearer),
  }
  save(deps, stored)
  if (outcome === 'LOST' || manner.lostAnswer) throw unavailable()
  return stored
}

function usedBefore({ duplicates }: Manner): ApiError {
  const transactionId = 'was used before; a transactionId must be unique'
  return invalid(duplicates === 'named' ? { transactionId } : {})
}

/** The purchase at prices that have risen since its offer was listed. */
function dearer<T extends Purchase>(record: T, cents: number): T {
  return {
    ...record,
    cost: record.cost + cents,
    costBase: record.costBase + cents,
    price: record.price + cents,
    priceBase: record.priceBase + cents,
  }
}

/** The record as a look-up shows it now; undefined if it is not shown yet. */
export function shown({ manners }: PurchaseDeps, stored: StoredPurchase): Purchase | undefined {
  const { record, acceptedAt } = stored
  const { hiddenMs, goodsAfterMs } = manners.of(record.offerId)
  if (Date.now() < acceptedAt + hiddenMs) return undefined
  const isBare =
    record.status === 'DONE' && Date.now() < Date.parse(record.updatedAt) + goodsAfterMs
  return isBare ? withoutGoods(record) : record
}

/** Stores a new state, reports it, and sets the timer for the next one. */
function save(deps: PurchaseDeps, next: StoredPurchase, wallet = deps.ledger.wallet()): void {
  deps.ledger.commit([next], wallet)
  deps.changed(next.record)
  schedule(deps, next)
}

/** Sets the timer for the next state; after a restart, overdue states follow at once. */
export function schedule(deps: PurchaseDeps, stored: StoredPurchase): void {
  const outcome: Outcome = outcomeOf(stored.record.offerId)
  const { endsAfterMs } = deps.manners.of(stored.record.offerId)
  const stage = nextStage(stored.record.status, outcome, { ...deps.pace, endsAfterMs })
  if (!stage) return
  deps.timers.set(stored.id, stored.acceptedAt + stage.at - Date.now(), () => {
    move(deps, stored.id, stage.status)
  })
}

function stamped(record: Purchase, status: TransactionStatus, error?: SupplierError): Purchase {
  const dateTime = new Date().toISOString()
  const log = [
    ...record.log,
    { dateTime, status, statusMessage: error?.message ?? messages[status] },
  ]
  return { ...record, status, updatedAt: dateTime, log, ...(error ? { error } : {}) }
}

/** The confirmation with which the eSIM with this ICCID was first delivered. */
function firstDelivery(ledger: Ledger, iccid: string | undefined): EsimConfirmation | undefined {
  if (iccid === undefined) return undefined
  for (const entry of ledger.all()) {
    if (entry.type !== 'purchase' || entry.record.productType !== 'ESIM') continue
    if (entry.record.confirmation?.iccid === iccid) return entry.record.confirmation
  }
  return undefined
}

function fail(deps: PurchaseDeps, stored: StoredPurchase, error: SupplierError): void {
  const record = stamped(stored.record, 'FAILED', error)
  save(deps, { ...stored, held: 0, record }, release(deps.ledger.wallet(), stored.held))
}

function authorize(deps: PurchaseDeps, stored: StoredPurchase): StoredPurchase | undefined {
  const wallet = hold(deps.ledger.wallet(), stored.record.cost)
  if (!wallet) {
    fail(deps, stored, insufficientFunds)
    return undefined
  }
  const next = { ...stored, held: stored.record.cost, record: stamped(stored.record, 'AUTHORIZED') }
  save(deps, next, wallet)
  return next
}

/** Charges and delivers in one write, so that a crash never takes money without delivering. */
function finish(deps: PurchaseDeps, stored: StoredPurchase): void {
  const known = firstDelivery(deps.ledger, stored.iccid)
  const done = stamped(stored.record, 'DONE')
  const { receipt } = deps.manners.of(done.offerId)
  const record = delivered(done, { now: new Date(), receipt, iccid: stored.iccid, known })
  const next = { ...stored, held: 0, charged: stored.held, record }
  save(deps, next, capture(deps.ledger.wallet(), stored.held))
}

/** Moves a purchase to a status. Final statuses never change, and goods are delivered only for money that is held. */
export function move(deps: PurchaseDeps, id: string, status: TransactionStatus): void {
  const stored = deps.ledger.purchase(id)
  if (!stored || isFinal(stored.record.status)) return
  if (status === 'FAILED') fail(deps, stored, failureOf(stored.record))
  else if (status === 'AUTHORIZED') authorize(deps, stored)
  else if (status === 'DONE') {
    const paid = stored.held > 0 ? stored : authorize(deps, stored)
    if (paid) finish(deps, paid)
  } else save(deps, { ...stored, record: stamped(stored.record, status) })
}

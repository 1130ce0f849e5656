import { randomBytes } from 'node:crypto'
import { openLedgerFile } from '../ledger-file.ts'
import type { Timers } from '../timers.ts'
import type { Catalog } from './catalog/catalog.ts'
import { type Outcome, outcomeOf } from './catalog/test-offers.ts'
import { invalid, notFound, unavailable } from './faults.ts'
import type {
  EsimRefund,
  Family,
  Offer,
  Purchase,
  SupplierError,
  TransactionStatus,
} from './models.ts'
import { type PurchaseInput, problemsOf } from './purchase-input.ts'
import { delivered, failures, insufficientFunds, newRecord } from './records.ts'

/** A purchase: its record, and data that the record does not show. Money is in US cents. */
export interface StoredPurchase {
  readonly type: 'purchase'
  readonly id: string
  readonly family: Family
  readonly acceptedAt: number
  readonly held: number
  readonly charged: number
  readonly refunded: number
  /** The eSIM to which the plan is added. */
  readonly iccid?: string
  readonly record: Purchase
}

interface StoredRefund {
  readonly type: 'refund'
  readonly id: string
  readonly acceptedAt: number
  readonly record: EsimRefund
}

type Stored = StoredPurchase | StoredRefund

/** The store's prepaid balance at the supplier, in US cents. `available` can be spent now. */
interface Wallet {
  readonly available: number
  readonly held: number
  readonly spent: number
}

/** Every purchase and refund in its newest state, and the wallet. */
export function openLedger(path: string | undefined, balance: number) {
  const file = openLedgerFile(path)
  const byId = new Map<string, Stored>()
  let wallet: Wallet = { available: balance, held: 0, spent: 0 }
  const apply = (line: { readonly entries: readonly Stored[]; readonly wallet: Wallet }) => {
    for (const entry of line.entries) byId.set(entry.id, entry)
    wallet = line.wallet
  }
  for (const line of file.lines) apply(line as Parameters<typeof apply>[0])
  const typed = <T extends Stored['type']>(type: T, id: string) => {
    const entry = byId.get(id)
    return entry?.type === type ? (entry as Extract<Stored, { type: T }>) : undefined
  }
  return {
    instance: file.instance,
    wallet: () => wallet,
    purchase: (id: string) => typed('purchase', id),
    refund: (id: string) => typed('refund', id),
    all: (): readonly Stored[] => [...byId.values()],
    /** Writes new states and the wallet atomically: both survive a crash, or neither. */
    commit(entries: readonly Stored[], next = wallet): void {
      const line = { entries, wallet: next }
      file.append(line)
      apply(line)
    },
    close: file.close,
  }
}

type Ledger = ReturnType<typeof openLedger>

export interface PurchaseDeps {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly timers: Timers
  readonly pace: { readonly stepMs: number; readonly lateSeconds: number }
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
  if (ledger.purchase(id) ?? ledger.refund(id)) {
    throw invalid({ transactionId: 'was used before; a transactionId must be unique' })
  }
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
    ...{ held: 0, charged: 0, refunded: 0 },
    ...(input.family === 'esim' && input.iccid ? { iccid: input.iccid } : {}),
    record: newRecord(offer, input, now),
  }
  save(deps, stored)
  if (outcome === 'LOST') throw unavailable()
  return stored
}

/** Stores a new state, reports it, and sets the timer for the next one. */
function save(deps: PurchaseDeps, next: StoredPurchase, wallet = deps.ledger.wallet()): void {
  deps.ledger.commit([next], wallet)
  deps.changed(next.record)
  schedule(deps, next)
}

const order: readonly TransactionStatus[] = ['ACCEPTED', 'PENDING', 'AUTHORIZED', 'IN_PROGRESS']

/** Sets the timer for the next state; after a restart, overdue states follow at once. */
export function schedule(deps: PurchaseDeps, stored: StoredPurchase): void {
  const { status, offerId } = stored.record
  const reached = order.indexOf(status)
  if (reached < 0) return
  const usual = order.map((next, index) => ({ status: next, at: index * deps.pace.stepMs }))
  const stage = [...usual, ...endOf(deps, offerId)][reached + 1]
  if (!stage) return
  deps.timers.set(stored.id, stored.acceptedAt + stage.at - Date.now(), () => {
    move(deps, stored.id, stage.status)
  })
}

/** How a purchase ends, and how many milliseconds after it was accepted; nothing if it never ends. */
function endOf({ pace }: PurchaseDeps, offerId: string) {
  const outcome: Outcome = outcomeOf(offerId)
  if (outcome === 'HANG' || outcome === 'DECLINED') return []
  const steps = outcome === 'SLOW' ? 100 : 4
  const at = outcome === 'LATE' ? pace.lateSeconds * 1_000 : steps * pace.stepMs
  const status: TransactionStatus = outcome === 'FAIL' ? 'FAILED' : 'DONE'
  return [{ status, at }]
}

function stamped(record: Purchase, status: TransactionStatus, error?: SupplierError): Purchase {
  const dateTime = new Date().toISOString()
  const statusMessage = error?.message ?? messages[status]
  const log = [...record.log, { dateTime, status, statusMessage }]
  return { ...record, status, updatedAt: dateTime, log, ...(error ? { error } : {}) }
}

/** The confirmation with which the eSIM with this ICCID was first delivered. */
function firstDelivery(ledger: Ledger, iccid: string | undefined) {
  return iccid === undefined ? undefined : plansOf(ledger, iccid)[0]?.confirmation
}

/** The plans that were delivered to an eSIM, the first first. */
export function plansOf(ledger: Ledger, iccid: string): readonly Purchase[] {
  return ledger
    .all()
    .flatMap((entry) => (entry.type === 'purchase' ? [entry.record] : []))
    .filter(({ confirmation }) => confirmation?.iccid === iccid)
}

function fail(deps: PurchaseDeps, stored: StoredPurchase, error: SupplierError): void {
  const wallet = deps.ledger.wallet()
  const { held } = stored
  const released = { ...wallet, available: wallet.available + held, held: wallet.held - held }
  save(deps, { ...stored, held: 0, record: stamped(stored.record, 'FAILED', error) }, released)
}

function authorize(deps: PurchaseDeps, stored: StoredPurchase): StoredPurchase | undefined {
  const wallet = deps.ledger.wallet()
  const { cost } = stored.record
  if (cost > wallet.available) {
    fail(deps, stored, insufficientFunds)
    return undefined
  }
  const next = { ...stored, held: cost, record: stamped(stored.record, 'AUTHORIZED') }
  save(deps, next, { ...wallet, available: wallet.available - cost, held: wallet.held + cost })
  return next
}

/** Charges and delivers in one write, so that a crash never takes money without delivering. */
function finish(deps: PurchaseDeps, stored: StoredPurchase): void {
  const known = firstDelivery(deps.ledger, stored.iccid)
  const done = stamped(stored.record, 'DONE')
  const record = delivered(done, { now: new Date(), iccid: stored.iccid, known })
  const wallet = deps.ledger.wallet()
  const { held } = stored
  const captured = { ...wallet, held: wallet.held - held, spent: wallet.spent + held }
  save(deps, { ...stored, held: 0, charged: held, record }, captured)
}

/** Moves a purchase to a status. Final statuses never change, and goods are delivered only for money that is held. */
export function move(deps: PurchaseDeps, id: string, status: TransactionStatus): void {
  const stored = deps.ledger.purchase(id)
  if (!stored || isFinal(stored.record.status)) return
  if (status === 'FAILED') fail(deps, stored, failures[stored.record.productType])
  else if (status === 'AUTHORIZED') authorize(deps, stored)
  else if (status === 'DONE') {
    const paid = stored.held > 0 ? stored : authorize(deps, stored)
    if (paid) finish(deps, paid)
  } else save(deps, { ...stored, record: stamped(stored.record, status) })
}

export function refundOf(ledger: Ledger, purchaseId: string): StoredRefund | undefined {
  return ledger
    .all()
    .filter((entry) => entry.type === 'refund')
    .find(({ record }) => record.refundedTransactionId === purchaseId)
}

/**
 * Starts the refund of a delivered eSIM, a CREDIT transaction of its own. A second call returns the existing refund,
 * so the money is refunded once.
 */
export function refund(deps: PurchaseDeps, purchaseId: string): StoredRefund {
  const stored = deps.ledger.purchase(purchaseId)
  if (stored?.record.productType !== 'ESIM') throw notFound(`The eSIM purchase ${purchaseId}`)
  const before = refundOf(deps.ledger, purchaseId)
  if (before) return before
  if (stored.record.status !== 'DONE') {
    throw invalid({ transactionId: 'is not DONE, so nothing was charged' })
  }
  const now = new Date()
  const at = now.toISOString()
  const id = `R${randomBytes(12).toString('hex')}`
  const started: StoredRefund = {
    type: 'refund',
    id,
    acceptedAt: now.getTime(),
    record: {
      ...{ productType: 'REFUND', type: 'CREDIT', amount: stored.charged },
      ...{ currency: 'USD', currencyDivisor: 100 },
      ...{ createdAt: at, updatedAt: at, status: 'ACCEPTED' },
      log: [{ dateTime: at, status: 'ACCEPTED', statusMessage: 'Refund accepted' }],
      ...{ refundedTransactionId: purchaseId, transactionId: id },
    },
  }
  deps.ledger.commit([started, marked(stored, 'ACCEPTED', 0)])
  scheduleRefund(deps, started)
  return started
}

/** The refunded purchase, marked with the state of its refund. */
function marked(
  stored: StoredPurchase,
  status: TransactionStatus,
  refunded: number,
): StoredPurchase {
  return { ...stored, refunded, record: { ...stored.record, refund: { status } } }
}

export function scheduleRefund(deps: PurchaseDeps, { id, acceptedAt, record }: StoredRefund): void {
  if (record.status !== 'ACCEPTED') return
  const due = acceptedAt + 2 * deps.pace.stepMs
  deps.timers.set(id, due - Date.now(), () => finishRefund(deps, id))
}

function finishRefund(deps: PurchaseDeps, id: string): void {
  const started = deps.ledger.refund(id)
  const stored = started && deps.ledger.purchase(started.record.refundedTransactionId)
  if (!stored || started.record.status !== 'ACCEPTED') return
  const { amount } = started.record
  const at = new Date().toISOString()
  const entry = { dateTime: at, status: 'DONE', statusMessage: 'Refund ended' } as const
  const record = {
    ...started.record,
    status: 'DONE' as const,
    updatedAt: at,
    log: [...started.record.log, entry],
  }
  const purchase = marked(stored, 'DONE', amount)
  const { available, spent, ...wallet } = deps.ledger.wallet()
  deps.ledger.commit([{ ...started, record }, purchase], {
    ...{ ...wallet, available: available + amount, spent: spent - amount },
  })
  deps.changed(purchase.record)
}

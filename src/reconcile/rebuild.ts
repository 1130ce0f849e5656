import { type Delivery, firstSupplier, kinds } from '../catalog/offer.ts'
import type { OfferId, OrderId } from '../lib/ids.ts'
import {
  type Failure,
  type In,
  type Item,
  isRefunding,
  type Order,
  type Supply,
  supplierReferenceOf,
  withPayout,
} from '../orders/order.ts'
import type { Receipt } from '../payments/payment.ts'
import { type Digest, hashOf, newAccessToken, type Sealed, type Vault } from '../secrets/secrets.ts'
import type { SupplierHolds, SupplierPurchase } from '../suppliers/supplier.ts'
import type { ChainStatement, ChainTransfer, OrderWriter, StoreRecord } from './ports.ts'
import type { Ids, LostPayment, Report, Sources, UnbookedRefund } from './sources.ts'

export interface RebuildDeps {
  readonly chain: Sources['chain']
  readonly suppliers: Sources['suppliers']
  readonly store: Pick<StoreRecord, 'atOnce'>
  readonly vault: Vault
  readonly digest: Digest
  readonly now: () => Date
}

export type Rebuilt =
  | { readonly order: OrderId; readonly became: 'refunded' | 'delivered' | 'refund_due' }
  | { readonly order: OrderId; readonly became: 'left'; readonly reason: string }

/**
 * Writes what the chain and the suppliers prove into a record that is older than they are. Each order is written in
 * one transaction and under its version, so this is safe beside a running store.
 *
 * @throws when keys are missing, before anything is written
 */
export async function rebuild(deps: RebuildDeps, report: Findings): Promise<readonly Rebuilt[]> {
  requireKeys(report)
  const { unbooked, lost } = report
  const rebuilt: Rebuilt[] = []
  for (const refund of unbooked) rebuilt.push(await bookRefund(deps, refund))
  const refundedFirst = [...lost].sort((one, other) => Number(!one.refund) - Number(!other.refund))
  for (const payment of refundedFirst) rebuilt.push(await reopenOrder(deps, payment, report))
  return rebuilt
}

type Findings = Pick<Report, 'unbooked' | 'lost' | 'differences' | 'misnamed'>

async function bookRefund(
  { store, now }: RebuildDeps,
  { order, refund, payment }: UnbookedRefund,
): Promise<Rebuilt> {
  const replay = { now: now(), payment: payment && receiptOf(payment) }
  const steps = replayToRefunded(order, refund.transaction, replay)
  if (steps === undefined) {
    return left(order.id, `No legal move leads from ${order.state} to a refund.`)
  }
  return writeRebuilt(store, order.id, 'refunded', (orders) => follow(orders, order, steps))
}

async function reopenOrder(
  deps: RebuildDeps,
  lost: LostPayment,
  report: Findings,
): Promise<Rebuilt> {
  const identified = await identifyOrder(deps, lost)
  const { ids, supplierRecord } = identified
  const oweUnlessPaid = async () => {
    const why = lost.refund ? undefined : await whyNotOwed(deps, lost, report, supplierRecord)
    return why === undefined ? owe(deps, lost, identified) : left(ids.id, why)
  }
  switch (supplierRecord.outcome) {
    case 'unknown':
      return left(ids.id, `The supplier does not say: ${supplierRecord.reason}`)
    case 'none':
      return oweUnlessPaid()
    case 'found':
      // The supplier's word decides about a purchase that may still be delivered, unless it was refunded.
      if (supplierRecord.purchase.state === 'pending' && !lost.refund) {
        return left(ids.id, 'The supplier has not ended this purchase; run this again later.')
      }
      return supplierRecord.delivery && !lost.refund
        ? deliver(deps, lost, identified, supplierRecord.delivery)
        : oweUnlessPaid()
  }
}

async function whyNotOwed(
  { chain }: RebuildDeps,
  { transfer }: LostPayment,
  report: Findings,
  supplierRecord: SupplierHolds,
): Promise<string | undefined> {
  const stray = supplierRecord.outcome === 'none' ? unexplained(report) : undefined
  if (stray !== undefined) {
    return (
      `Not paid back, because ${stray}: this may be its payment. Put all keys into SECRETS_KEY that were ever ` +
      'in it, begin at an earlier block (--from-block), or run this again in ten minutes.'
    )
  }
  const { newest } = await chain.heads()
  for await (const [plain] of chain.sentPlainly(transfer.from, transfer.block, newest)) {
    if (plain === undefined) continue
    return (
      `Not paid back, because ${plain.from} sent its payer USDC in transaction ${plain.transaction}. ` +
      'If that was for something else, pay it back by hand.'
    )
  }
  return undefined
}

async function deliver(
  deps: RebuildDeps,
  lost: LostPayment,
  identified: Identified,
  delivery: Delivery,
): Promise<Rebuilt> {
  const order = identified.ids.id
  const goods = {
    delivery: deps.vault.seal(delivery, { order, field: 'delivery' }),
    ...('iccid' in delivery ? { iccidDigest: deps.digest.of(delivery.iccid) } : {}),
  }
  const opened = lostOrder(deps.chain, lost, identified)
  const replay = { now: deps.now(), payment: receiptOf(lost.transfer) }
  return openAnd(deps, opened, replayToDelivered(opened, goods, replay), 'delivered')
}

async function owe(deps: RebuildDeps, lost: LostPayment, identified: Identified): Promise<Rebuilt> {
  const { supplierRecord } = identified
  const state = supplierRecord.outcome === 'found' ? supplierRecord.purchase.state : undefined
  const mayCome = state === 'delivered' || state === 'pending'
  const opened = lostOrder(deps.chain, lost, identified)
  const ends = {
    refundedBy: lost.refund?.transfer.transaction,
    // The running store returns goods that the supplier delivered after all, or books them as a loss.
    supply: { state: mayCome ? 'OPEN' : state === 'returned' ? 'RETURNED' : 'NONE' },
  } as const
  const replay = { now: deps.now(), payment: receiptOf(lost.transfer) }
  const steps = replayToOwed(opened, ends, replay)
  return openAnd(deps, opened, steps, lost.refund ? 'refunded' : 'refund_due')
}

interface Identified {
  readonly ids: Ids
  readonly supplierRecord: SupplierHolds
  readonly supplier: string
}

/**
 * By its refund on the chain or its purchase at a supplier. Without either nothing was bought; the newest key names
 * it.
 */
async function identifyOrder(
  { suppliers }: RebuildDeps,
  { ids, refund }: LostPayment,
): Promise<Identified> {
  const candidates = refund ? [refund.of] : ids
  const places = [...suppliers.keys()].flatMap((name) => kinds.map((kind) => [name, kind] as const))
  for (const candidate of candidates) {
    const reference = supplierReferenceOf(candidate.id)
    for (const [supplier, kind] of places) {
      const supplierRecord = await suppliers.get(supplier)?.purchase(kind, reference)
      if (supplierRecord && supplierRecord.outcome !== 'none')
        return { ids: candidate, supplierRecord, supplier }
    }
  }
  const [first] = candidates
  if (!first) throw new Error('There is no key to name an order with')
  return { ids: first, supplierRecord: { outcome: 'none' }, supplier: firstSupplier }
}

type Became = Exclude<Rebuilt['became'], 'left'>

function openAnd(
  { store }: RebuildDeps,
  opened: In<'PAYMENT_PENDING'>,
  steps: readonly Order[],
  became: Became,
): Promise<Rebuilt> {
  return writeRebuilt(store, opened.id, became, async (orders) => {
    const { isNew, order } = await orders.open(opened, [])
    if (!isNew) throw new Overtaken()
    await follow(orders, order, steps)
  })
}

/** Then the order is left to the running store. */
async function follow(orders: OrderWriter, from: Order, steps: readonly Order[]): Promise<void> {
  let at = from
  for (const step of steps) {
    const moved = await orders.move(at, step)
    if (!moved.won) throw new Overtaken()
    at = moved.record
  }
  await orders.release(at, 0)
}

/** The running store wrote the order meanwhile, so this transaction is rolled back. */
class Overtaken extends Error {}

async function writeRebuilt(
  store: RebuildDeps['store'],
  order: OrderId,
  became: Became,
  write: (orders: OrderWriter) => Promise<void>,
): Promise<Rebuilt> {
  try {
    await store.atOnce(write)
    return { order, became }
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
    return left(order, 'The running store wrote this order meanwhile; look again.')
  }
}

function left(order: OrderId, reason: string): Rebuilt {
  return { order, became: 'left', reason }
}

function requireKeys({ misnamed }: Findings): void {
  if (misnamed === undefined) return
  throw new Error(
    `None of the keys in SECRETS_KEY has named order ${misnamed}, the newest on record in USDC. ` +
      'Under wrong keys an order that was delivered or refunded is not found, and would be paid back. ' +
      'Put all keys into SECRETS_KEY that were in it when orders were last taken. Nothing was written.',
  )
}

/** A payment without either may be that of a purchase or refund without a payment, named with a missing key. */
function unexplained({ differences, lost }: Findings): string | undefined {
  const explained = new Set([
    ...lost.flatMap(({ ids }) => ids.map(({ id }) => id)),
    ...differences.flatMap(({ code, order }) => (code === 'invoice_unknown' && order) || []),
  ])
  const stray = differences.find(
    ({ code, order }) =>
      code === 'refund_without_order' ||
      (code === 'supplier_purchase_unknown' && order !== undefined && !explained.has(order)),
  )
  if (stray === undefined) return undefined
  return stray.code === 'refund_without_order'
    ? `refund ${stray.transaction} is of no order`
    : `the supplier has a purchase for ${stray.order}, which no payment explains`
}

const unknownItem: Item = {
  kind: 'voucher',
  offerId: 'unknown' as OfferId,
  source: { supplier: firstSupplier, product: 'unknown' },
  brandName: 'unknown',
}

/** The access token is one that nobody has: the buyer opens the goods by signing in with the wallet. */
function lostOrder(
  { network, asset }: Pick<ChainStatement, 'network' | 'asset'>,
  { transfer, minedAt }: LostPayment,
  { ids, supplierRecord, supplier }: Identified,
): In<'PAYMENT_PENDING'> {
  return {
    state: 'PAYMENT_PENDING',
    ...ids,
    version: 1,
    item:
      supplierRecord.outcome === 'found' ? itemOf(supplierRecord.purchase, supplier) : unknownItem,
    recipient: undefined,
    fingerprint: '',
    accessTokenHash: hashOf(newAccessToken()),
    payment: {
      method: 'x402',
      network,
      asset,
      payTo: transfer.to,
      payer: transfer.from,
      amount: transfer.amount,
      nonce: transfer.nonce,
      validAfter: 0,
      validBefore: 0,
      signature: '0x',
      sinceBlock: transfer.block,
    },
    amount: transfer.amount,
    placedAt: minedAt,
    changedAt: minedAt,
  }
}

function itemOf({ kind, product, brandName, country }: SupplierPurchase, supplier: string): Item {
  const source = { supplier, product }
  // The offer's id in the catalog is not known; the product's id comes closest.
  const offerId = product as OfferId
  return { kind, offerId, source, brandName, ...(country === undefined ? {} : { country }) }
}

// The moves that the store makes, so ledger, history and the guards of the database hold for a rebuilt order.

const recordLost: Failure = {
  trigger: 'fulfillment_failed',
  message: 'The record of this order was lost, and the money goes back.',
}

interface Replay {
  readonly now: Date
  readonly payment?: Receipt | undefined
}

/** @returns undefined if no legal move leads there: the order was delivered, or counts as never paid */
export function replayToRefunded(
  order: Order,
  transaction: string,
  replay: Replay,
): readonly Order[] | undefined {
  if (!isRefunding(order)) {
    const way = wayToFulfilling(order, replay)
    return (
      way && movesToRefund(way, replay.now, { refundedBy: transaction, supply: { state: 'OPEN' } })
    )
  }
  // Every refund continues from `DUE`.
  const isBefore = order.payout === undefined || order.payout.state === 'FAILED'
  const due = isBefore ? [withPayout(order, { state: 'DUE' })] : []
  return [...due, withPayout(order, { state: 'CONFIRMED', transaction, confirmedAt: replay.now })]
}

export function replayToDelivered(
  opened: In<'PAYMENT_PENDING'>,
  goods: { readonly delivery: Sealed; readonly iccidDigest?: string },
  { now, payment }: Replay & { readonly payment: Receipt },
): readonly Order[] {
  const { moves, at } = paidWay(opened, payment, now)
  const { askedAt: _, ...paid } = at
  return [...moves, { ...paid, state: 'FULFILLED', changedAt: now, deliveredAt: now, ...goods }]
}

export function replayToOwed(
  opened: In<'PAYMENT_PENDING'>,
  ends: Ends,
  { now, payment }: Replay & { readonly payment: Receipt },
): readonly Order[] {
  return movesToRefund(paidWay(opened, payment, now), now, ends)
}

interface Ends {
  readonly refundedBy?: string | undefined
  readonly supply: Supply
}

interface Way {
  readonly moves: readonly Order[]
  readonly at: In<'FULFILLING'>
}

function wayToFulfilling(order: Order, { now, payment }: Replay): Way | undefined {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return payment && paidWay(order, payment, now)
    case 'PAID': {
      const at = fulfillingOrder(order, now)
      return { moves: [at], at }
    }
    case 'FULFILLING':
      return { moves: [], at: order }
    default:
      return undefined
  }
}

function paidWay(order: In<'PAYMENT_PENDING'>, receipt: Receipt, now: Date): Way {
  const paid: In<'PAID'> = {
    ...order,
    state: 'PAID',
    changedAt: now,
    receipt,
    settlement: 'FINAL',
    paidAt: order.placedAt,
    deliverBy: now,
  }
  const at = fulfillingOrder(paid, now)
  return { moves: [paid, at], at }
}

function fulfillingOrder(order: In<'PAID'>, now: Date): In<'FULFILLING'> {
  return { ...order, state: 'FULFILLING', changedAt: now, askedAt: now }
}

function movesToRefund(
  { moves, at }: Way,
  now: Date,
  { refundedBy, supply }: Ends,
): readonly Order[] {
  const { askedAt: _, ...order } = at
  const failed: In<'FULFILLMENT_FAILED'> = {
    ...order,
    state: 'FULFILLMENT_FAILED',
    changedAt: now,
    failure: recordLost,
    payout: { state: 'DUE' },
    supply,
  }
  if (refundedBy === undefined) return [...moves, failed]
  const paid = { state: 'CONFIRMED', transaction: refundedBy, confirmedAt: now } as const
  return [...moves, failed, withPayout(failed, paid)]
}

function receiptOf({ transaction, block }: ChainTransfer): Receipt {
  return { method: 'x402', transaction, block }
}

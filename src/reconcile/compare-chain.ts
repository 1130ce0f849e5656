import type { OrderId } from '../lib/ids.ts'
import { goodwillReferenceOf } from '../orders/goodwill.ts'
import type { Order } from '../orders/order.ts'
import { paymentKeyOf } from '../payments/payment.ts'
import { differs, openItem } from './differences.ts'
import { goodwillDebt, judgeNamed, judgePaid, judgePayment, judgeRefund } from './judge.ts'
import type { ChainStatement, ChainTransfer, WalletRole } from './ports.ts'
import {
  isAuthorized,
  isEarlierRefunds,
  type Look,
  type Notes,
  note,
  noteMovement,
  ordersOf,
  type Sources,
  walletKey,
} from './sources.ts'

type Authorized = ChainTransfer & { readonly nonce: string }

export async function comparePayments(
  { chain, store }: Sources,
  look: Look,
  notes: Notes,
  blocks: { readonly from: number; readonly to: number },
): Promise<void> {
  for await (const transfers of chain.received(blocks.from, blocks.to)) {
    const payments = transfers.filter(isAuthorized)
    const orders = await store.byPayments(payments.map((payment) => keyOf(chain, payment)))
    const byKey = new Map(orders.map((order) => [paymentKeyOf(order.payment), order]))
    for (const transfer of transfers) {
      const order = isAuthorized(transfer) ? byKey.get(keyOf(chain, transfer)) : undefined
      if (order) notePayment(transfer, order, look, notes)
      else await noteStray(chain, transfer, look, notes)
    }
  }
}

function notePayment(transfer: ChainTransfer, order: Order, look: Look, notes: Notes): void {
  notes.chain.received += transfer.amount
  notes.paid.add(order.id)
  const isBooked = order.state !== 'PAYMENT_PENDING' && order.state !== 'PAYMENT_FAILED'
  if (!isBooked) notes.unbookedPayments.set(order.id, transfer)
  note(notes, judgePayment(transfer, order, look))
}

async function noteStray(
  chain: ChainStatement,
  transfer: ChainTransfer,
  look: Look,
  notes: Notes,
): Promise<void> {
  const { transaction, amount } = transfer
  const about = { transaction, found: amount, detail: `From ${transfer.from}.` }
  if (!isAuthorized(transfer)) {
    if (!isOfStore(notes, 'pay_to', transfer.to, transfer)) return
    notes.chain.unmatched += amount
    noteMovement(notes, transfer, differs('unmatched_money', about))
    return
  }
  notes.chain.unmatched += amount
  const minedAt = await chain.minedAt(transfer.block)
  // Its buyer may still send the request: a payer can submit a payment before it buys.
  if (look.now.getTime() - minedAt.getTime() < look.strayAfterMs) {
    note(notes, openItem('store', about))
    return
  }
  const ids = look.idsFor({ ...chain, payer: transfer.from, nonce: transfer.nonce })
  notes.lost.push({ transfer, minedAt, ids })
  const [first] = ids
  note(notes, differs('payment_without_order', { ...(first ? { order: first.id } : {}), ...about }))
}

/** Counts once the address is the store's. What was authorized is always compared: the record may be older. */
function isOfStore(
  { wallets }: Notes,
  role: WalletRole,
  address: string,
  { block }: ChainTransfer,
): boolean {
  return block >= (wallets.get(walletKey(role, address)) ?? 0)
}

export async function compareRefunds(
  sources: Sources,
  look: Look,
  notes: Notes,
  blocks: { readonly from: number; readonly to: number },
): Promise<void> {
  const unknown: Authorized[] = []
  for await (const transfers of sources.chain.paidBack(blocks.from, blocks.to)) {
    for (const transfer of transfers.filter((one) => !isAuthorized(one))) {
      const { transaction, amount } = transfer
      if (!isOfStore(notes, 'refunds', transfer.from, transfer)) continue
      const about = { transaction, found: amount, detail: `To ${transfer.to}.` }
      noteMovement(notes, transfer, differs('refund_wallet_moved', about))
    }
    const refunds = transfers.filter(isAuthorized)
    const payees = [...new Set(refunds.map(({ to }) => to))]
    const ids = payees.length === 0 ? [] : await sources.store.idsOf(payees, 'all')
    unknown.push(...(await matchRefunds(sources, look, notes, { refunds, ids })))
  }
  const strays = matchLost(sources.chain, notes, unknown)
  for (const stray of await matchAny(sources, look, notes, strays)) {
    noteStrayRefund(sources.chain, stray, notes)
  }
}

/** Only what left an earlier wallet can be acknowledged: a leaked key must be changed first. */
function noteStrayRefund({ wallets }: ChainStatement, stray: ChainTransfer, notes: Notes): void {
  const { transaction, amount, from, to } = stray
  const about = { transaction, found: amount, detail: `From ${from} to ${to}.` }
  const difference = differs('refund_without_order', about)
  if (isEarlierRefunds(wallets, from)) noteMovement(notes, stray, difference)
  else note(notes, difference)
}

async function matchRefunds(
  { chain, store }: Sources,
  look: Look,
  notes: Notes,
  { refunds, ids }: { readonly refunds: readonly Authorized[]; readonly ids: readonly OrderId[] },
): Promise<readonly Authorized[]> {
  const byNonce = new Map(ids.map((id) => [chain.refundNonceOf(id), id]))
  const matched = refunds.flatMap((refund) => {
    const id = byNonce.get(refund.nonce)
    return id === undefined ? [] : [{ refund, id }]
  })
  const orders = await ordersOf(
    store,
    matched.map(({ id }) => id),
  )
  for (const { refund, id } of matched) {
    const order = orders.get(id)
    if (order) noteRefund(refund, order, look, notes)
  }
  const goodwillByNonce = new Map(
    ids.map((id) => [chain.refundNonceOf(goodwillReferenceOf(id)), id]),
  )
  for (const transfer of refunds) {
    const order = goodwillByNonce.get(transfer.nonce)
    if (order !== undefined) notes.given.push({ order, transfer })
  }
  return refunds.filter(({ nonce }) => !byNonce.has(nonce) && !goodwillByNonce.has(nonce))
}

function noteRefund(refund: ChainTransfer, order: Order, look: Look, notes: Notes): void {
  const { transaction, amount } = refund
  notes.chain.refunded += amount
  const before = notes.refunded.get(order.id)
  if (before !== undefined) {
    const detail = `The other one is ${before}.`
    note(notes, differs('refunded_twice', { order: order.id, transaction, detail }))
    return
  }
  notes.refunded.set(order.id, transaction)
  const finding = judgeRefund(refund, order, look)
  note(notes, finding)
  if (finding?.type === 'difference' && finding.code === 'refund_not_booked') {
    notes.unbooked.push({ order, refund, payment: notes.unbookedPayments.get(order.id) })
  }
}

/** The refund of a payment whose order was lost names that order. */
function matchLost(
  chain: ChainStatement,
  notes: Notes,
  refunds: readonly Authorized[],
): readonly Authorized[] {
  const byNonce = new Map(
    notes.lost.flatMap((lost) =>
      lost.ids.map((of) => [chain.refundNonceOf(of.id), { lost, of }] as const),
    ),
  )
  return refunds.filter((transfer) => {
    const match = byNonce.get(transfer.nonce)
    if (!match) return true
    const { lost, of } = match
    const { transaction, amount } = transfer
    notes.chain.refunded += amount
    const about = { order: of.id, transaction, found: amount }
    const before = lost.refund?.transfer.transaction
    lost.refund ??= { of, transfer }
    note(
      notes,
      before === undefined
        ? differs('refund_not_booked', { ...about, detail: 'Its order is not on record.' })
        : differs('refunded_twice', { ...about, detail: `The other one is ${before}.` }),
    )
    return false
  })
}

async function matchAny(
  sources: Sources,
  look: Look,
  notes: Notes,
  refunds: readonly Authorized[],
): Promise<readonly Authorized[]> {
  let left = refunds
  if (left.length === 0) return left
  for await (const orders of sources.store.orders()) {
    left = await matchRefunds(sources, look, notes, {
      refunds: left,
      ids: orders.map(({ id }) => id),
    })
    if (left.length === 0) break
  }
  return left
}

function keyOf(chain: ChainStatement, { from, nonce }: Authorized): string {
  return paymentKeyOf({ network: chain.network, asset: chain.asset, payer: from, nonce })
}

export async function compareGoodwill(
  { chain, store }: Pick<Sources, 'chain' | 'store'>,
  look: Look,
  notes: Notes,
): Promise<void> {
  const inUsdc = (await store.goodwill()).filter(({ payment }) => payment.method === 'x402')
  const onRecord = new Map(inUsdc.map((one) => [one.id, one]))
  const paid = new Set<OrderId>()
  for (const { order, transfer } of notes.given) {
    const { transaction, amount: found } = transfer
    notes.goodwill.onChain += found
    paid.add(order)
    const goodwill = onRecord.get(order)
    note(
      notes,
      goodwill
        ? judgePaid(transfer, goodwillDebt(goodwill), look)
        : differs('goodwill_not_booked', { order, transaction, found, onRecord: 0n }),
    )
  }
  for (const goodwill of onRecord.values()) {
    const { id, amount, payout } = goodwill
    if (payout.state !== 'CONFIRMED') continue
    notes.goodwill.booked += amount
    if (paid.has(id)) continue
    const nonce = chain.refundNonceOf(goodwillReferenceOf(id))
    const found = await chain.transferIn(payout.transaction, nonce)
    notes.goodwill.onChain += found?.amount ?? 0n
    note(notes, judgeNamed(found, goodwillDebt(goodwill), payout.transaction))
  }
}

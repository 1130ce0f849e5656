import type { OrderId } from '../lib/ids.ts'
import {
  isPaid,
  type Order,
  orderIdOfReference,
  type PaidOrder,
  supplierReferenceOf,
} from '../orders/order.ts'
import { blockOf, paymentKeyOf, same } from '../payments/payment.ts'
import type { SupplierPurchase } from '../suppliers/supplier.ts'
import { differs, openItem } from './differences.ts'
import {
  costText,
  type Debt,
  isFresh,
  isPaymentOf,
  judgeNamed,
  judgeSupply,
  refundDebt,
} from './judge.ts'
import type { ChainTransfer, WalletRole } from './ports.ts'
import { type Look, type Notes, note, ordersOf, placeOf, type Sources } from './sources.ts'

export async function compareSupply({ suppliers, store }: Sources, notes: Notes): Promise<void> {
  const seen = new Set<OrderId>()
  for (const [supplier, statement] of suppliers) {
    for await (const purchases of statement.purchases()) {
      const ours = purchases.flatMap((purchase) => {
        const id = orderIdOfReference(purchase.reference)
        return id === undefined ? [] : [{ id, purchase }]
      })
      notes.supplier.foreign += purchases.length - ours.length
      const orders = await ordersOf(
        store,
        ours.map(({ id }) => id),
      )
      for (const { id, purchase } of ours) {
        notes.supplier[purchase.state] += 1
        const isSecond = seen.has(id)
        noteSupply(notes, { id, supplier, purchase, order: orders.get(id), isSecond })
        seen.add(id)
      }
    }
  }
}

interface Supplied {
  readonly id: OrderId
  readonly supplier: string
  readonly purchase: SupplierPurchase
  readonly order: Order | undefined
  readonly isSecond: boolean
}

function noteSupply(notes: Notes, supplied: Supplied): void {
  const { id, supplier, purchase, order, isSecond } = supplied
  const isElsewhere = order !== undefined && order.item.source.supplier !== supplier
  if (purchase.state === 'delivered' && !isElsewhere) notes.delivered.add(id)
  const about = { order: id, reference: purchase.reference, detail: costText(purchase) }
  if (isSecond || isElsewhere) note(notes, differs('supplier_bought_twice', about))
  else if (order) note(notes, judgeSupply(purchase, order))
  else note(notes, differs('supplier_purchase_unknown', about))
}

export async function compareOrders(
  sources: Sources,
  look: Look,
  notes: Notes,
  blocks: { readonly from: number; readonly to: number },
): Promise<void> {
  for await (const orders of sources.store.orders()) {
    notes.orders += orders.length
    for (const order of orders) {
      noteNewest(order, notes)
      await comparePaid(sources, order, notes, blocks)
      await compareRefunded(sources, order, notes)
      await compareDelivered(sources, order, look, notes)
    }
  }
}

function noteNewest(order: Order, notes: Notes): void {
  if (order.payment.method !== 'x402') return
  if (notes.newest && order.placedAt <= notes.newest.placedAt) return
  notes.newest = order
}

/**
 * A payment that the scan did not meet is older than the first block, younger than the last, went to a PAY_TO that is
 * not on record, or does not exist: its transaction shows which.
 */
async function comparePaid(
  { chain, store }: Sources,
  order: Order,
  notes: Notes,
  { to }: { readonly to: number },
): Promise<void> {
  if (!isPaid(order) || notes.paid.has(order.id)) return
  const { transaction } = order.receipt
  const block = blockOf(order.receipt)
  // A payment in a coin is compared with the processor.
  if (block === undefined) return
  const about = { order: order.id, transaction, onRecord: order.amount }
  if (block > to) {
    note(notes, openItem('safe_block', about))
    return
  }
  const transfer = await chain.transferIn(transaction, order.payment.nonce)
  const isThere =
    transfer && same(transfer.from, order.payment.payer) && same(transfer.to, order.payment.payTo)
  if (!isThere) {
    note(notes, differs('booked_not_on_chain', { ...about, found: 0n }))
    return
  }
  if (transfer.amount !== order.amount) {
    note(notes, differs('payment_differs', { ...about, found: transfer.amount }))
    return
  }
  notes.chain.received += transfer.amount
  noteStranger(chain, 'pay_to', transfer.to, notes)
  await compareClaim(store, order, notes)
}

function noteStranger(
  chain: Sources['chain'],
  role: WalletRole,
  address: string,
  notes: Notes,
): void {
  const isKnown = chain.wallets.some((one) => one.role === role && one.address === address)
  if (isKnown) return
  const what = `what else ${strangers[role].moved} ${address}; if it is yours, say ${strangers[role].option} ${address}`
  if (!notes.notChecked.includes(what)) notes.notChecked.push(what)
}

const strangers = {
  pay_to: { moved: 'came to', option: '--earlier-pay-to' },
  refunds: { moved: 'left', option: '--earlier-refund-wallet' },
} as const

/** Each payment belongs to one order by a row of its own. An order without that row shares that of another. */
async function compareClaim(
  store: Sources['store'],
  order: PaidOrder,
  notes: Notes,
): Promise<void> {
  const [owner] = await store.byPayments([paymentKeyOf(order.payment)])
  if (owner === undefined || owner.id === order.id) return
  const { transaction } = order.receipt
  const detail = `The other one is ${owner.id}.`
  note(notes, differs('one_payment_two_orders', { order: order.id, transaction, detail }))
}

async function compareRefunded(sources: Sources, order: Order, notes: Notes): Promise<void> {
  const { chain } = sources
  const debt = refundDebt(order)
  // A payment in a coin was refunded in that coin.
  if (debt.payout?.state !== 'CONFIRMED' || order.payment.method !== 'x402') return
  if (notes.refunded.has(order.id)) return
  const { transaction } = debt.payout
  const byNonce = await chain.transferIn(transaction, chain.refundNonceOf(order.id))
  const transfer = byNonce ?? (await paidByHand(sources, debt, transaction, notes))
  const finding = judgeNamed(transfer, debt, transaction)
  note(notes, finding)
  if (finding || !transfer) return
  notes.chain.refunded += transfer.amount
  if (byNonce) noteStranger(chain, 'refunds', byNonce.from, notes)
}

/** What an operator noted for this refund. Each transfer of a transaction pays one refund. */
async function paidByHand(
  { chain, hands }: Sources,
  debt: Debt,
  transaction: string,
  notes: Notes,
): Promise<ChainTransfer | undefined> {
  if ((await hands.find(debt.order)) !== transaction) return undefined
  const transfers = await chain.plainTransfersIn(transaction)
  return transfers.find((transfer) => {
    const place = placeOf(transfer)
    if (!isPaymentOf(transfer, debt) || notes.handTransfers.has(place)) return false
    notes.handTransfers.add(place)
    return true
  })
}

async function compareDelivered(
  { suppliers }: Sources,
  order: Order,
  look: Look,
  notes: Notes,
): Promise<void> {
  if (order.state !== 'FULFILLED' || notes.delivered.has(order.id)) return
  const reference = supplierReferenceOf(order.id)
  const { kind, source } = order.item
  const supplier = suppliers.get(source.supplier)
  if (!supplier) throw new Error(`The supplier ${source.supplier} of ${order.id} is not connected`)
  const supplierRecord = await supplier.purchase(kind, reference)
  if (supplierRecord.outcome === 'found' && supplierRecord.purchase.state === 'delivered') return
  if (supplierRecord.outcome === 'unknown')
    throw new Error(`The supplier does not answer: ${supplierRecord.reason}`)
  const detail =
    supplierRecord.outcome === 'none'
      ? 'It has no such purchase.'
      : costText(supplierRecord.purchase)
  const about = { order: order.id, reference, detail: detail }
  const isYoung = isFresh(order.deliveredAt, look)
  note(notes, isYoung ? openItem('supplier', about) : differs('delivered_but_not_charged', about))
}

export async function compareLedger({ store }: Sources, notes: Notes): Promise<void> {
  for (const { order, account, booked, due } of await store.misbooked()) {
    const detail = `The account is ${account}.`
    note(notes, differs('ledger_differs', { order, onRecord: booked, found: due, detail }))
  }
}

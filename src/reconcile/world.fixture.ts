import { createHash } from 'node:crypto'
import {
  failed,
  fulfilled,
  fulfilling,
  newHash,
  newX402Payment,
  paid,
  paymentFailed,
  pending,
} from '../../test/fixtures/sample-orders.ts'
import type { Checkout, Invoice } from '../checkouts/checkout.ts'
import type { OrderId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { goodwillReferenceOf } from '../orders/goodwill.ts'
import { type In, idsFor, type Order, supplierReferenceOf } from '../orders/order.ts'
import type { Goodwill } from '../orders/ports.ts'
import { paymentKeyOf } from '../payments/payment.ts'
import { createDigest } from '../secrets/secrets.ts'
import type { SupplierPurchase, SupplierStatement } from '../suppliers/supplier.ts'
import type {
  ChainTransfer,
  Misbooked,
  MisbookedCheckout,
  Movements,
  PaidInvoice,
  ProcessorPayout,
  StoreWallet,
} from './ports.ts'
import type { Look, Sources } from './sources.ts'

const digest = createDigest([Buffer.alloc(32, 7)], 'orders')
const payTo = newX402Payment().payTo
export const refundWallet = `0x${'f0'.repeat(20)}`
const safeBlock = 1_000
const now = new Date('2026-03-02T10:00:00Z')

/** Everything in the books, as plain lists that a test can change. */
export interface World {
  orders: Order[]
  received: ChainTransfer[]
  paidBack: ChainTransfer[]
  purchases: SupplierPurchase[]
  misbooked: Misbooked[]
  goodwill: Goodwill[]
  checkouts: Checkout[]
  strayOrders: OrderId[]
  misbookedCheckouts: MisbookedCheckout[]
  /** The invoices at the processor, by id. Undefined: the store has no processor. */
  invoices: Map<string, Invoice> | undefined
  /** The processor's payouts; undefined: it does not answer. */
  payouts: ProcessorPayout[] | undefined
  /** References of which it hides what was paid. */
  hidden: string[]
  /** The processor's list of paid invoices; undefined: it does not answer. */
  paidInvoices: PaidInvoice[] | undefined
  /** What operators noted as paid by hand: the transaction, by its reference. */
  handNotes: Map<string, string>
  /** Their `since` is the number of a block, as seconds. */
  wallets: StoreWallet[]
  /** The acknowledged transfers. */
  acknowledged: Awaited<ReturnType<Movements['acknowledged']>>
}

/** One order with what the chain and the supplier have of it. */
export interface Life {
  readonly order: Order
  readonly payment?: ChainTransfer
  readonly refund?: ChainTransfer
  readonly purchase?: SupplierPurchase
}

function refundNonceOf(reference: string): string {
  return `0x${createHash('sha256').update(reference).digest('hex')}`
}

let places = 0

export function transfer(changes: Partial<ChainTransfer> = {}): ChainTransfer {
  places += 1
  return {
    transaction: newHash(),
    block: 100 + (places % 800),
    logIndex: places,
    from: newX402Payment().payer.toLowerCase(),
    to: payTo,
    amount: usdc(12_500_000n),
    ...changes,
  }
}

/** An order as it begins, with the ids that follow from its payment. */
function begun(): In<'PAYMENT_PENDING'> {
  const payment = newX402Payment()
  return pending({ ...idsFor(digest, payment), payment })
}

function paymentOf({ payment }: Order): ChainTransfer & { readonly nonce: string } {
  return { ...transfer({ from: payment.payer.toLowerCase() }), nonce: payment.nonce }
}

export function refundOf(order: Order): ChainTransfer & { readonly nonce: string } {
  const to = order.payment.payer.toLowerCase()
  return { ...transfer({ from: refundWallet, to }), nonce: refundNonceOf(order.id) }
}

/** The transfer of one dollar of goodwill. */
export function goodwillOf(order: Order): ChainTransfer & { readonly nonce: string } {
  const to = order.payment.payer.toLowerCase()
  const amount = usdc(1_000_000n)
  const nonce = refundNonceOf(goodwillReferenceOf(order.id))
  return { ...transfer({ from: refundWallet, to, amount }), nonce }
}

export function purchaseOf(order: Order, state: SupplierPurchase['state']): SupplierPurchase {
  return {
    reference: supplierReferenceOf(order.id),
    kind: order.item.kind,
    product: 'TEST-VOUCHER-OK',
    brandName: 'Test',
    state,
    cost: { amount: 45, currency: 'USD', divisor: 100 },
  }
}

function booked(payment: ChainTransfer, order: In<'PAYMENT_PENDING'>): In<'PAID'> {
  const { transaction, block } = payment
  return { ...paid(order), receipt: { method: 'x402', transaction, block } }
}

/** The lives of orders whose books agree. */
export const lives = {
  delivered() {
    const first = begun()
    const payment = paymentOf(first)
    const order = fulfilled(fulfilling(booked(payment, first)))
    return { order, payment, purchase: purchaseOf(order, 'delivered') }
  },
  refunded: () => refundedWith('NONE', 'failed'),
  'refunded, never bought': () => refundedWith('NONE'),
  'goods lost': () => refundedWith('LOST', 'delivered'),
  'goods returned': () => refundedWith('RETURNED', 'returned'),
  due: () => givenUp(),
  waiting: () => awaited('pending'),
  'late and watched': () => awaited('delivered'),
  fulfilling() {
    const first = begun()
    const payment = paymentOf(first)
    const order = fulfilling(booked(payment, first))
    return { order, payment, purchase: purchaseOf(order, 'pending') }
  },
  paid() {
    const first = begun()
    const payment = paymentOf(first)
    return { order: booked(payment, first), payment }
  },
  'not safe yet'() {
    const first = begun()
    return { order: booked({ ...paymentOf(first), block: safeBlock + 1 }, first) }
  },
  pending: () => ({ order: begun() }),
  'pending, just paid'() {
    const order = { ...begun(), placedAt: now }
    return { order, payment: paymentOf(order) }
  },
  'not paid': () => ({ order: paymentFailed(begun()) }),
  'payment vanished'() {
    const first = begun()
    const order = { ...fulfilled(fulfilling(booked(paymentOf(first), first))), settlement: 'LOST' }
    return { order: order as Order, purchase: purchaseOf(order as Order, 'delivered') }
  },
} as const satisfies Record<string, () => Life>

export type LifeName = keyof typeof lives

/** An order whose refund is due. */
function givenUp(
  supply: In<'EXPIRED'>['supply']['state'] = 'NONE',
  state?: SupplierPurchase['state'],
): Life {
  const first = begun()
  const payment = paymentOf(first)
  const order = { ...failed(fulfilling(booked(payment, first))), supply: { state: supply } }
  return { order, payment, ...(state ? { purchase: purchaseOf(order, state) } : {}) }
}

/** An order that expired, and that the supplier may still deliver. */
function awaited(state: SupplierPurchase['state']): Life {
  const life = givenUp('OPEN', state)
  const { payout: _, ...order } = life.order as In<'FULFILLMENT_FAILED'>
  return { ...life, order: { ...order, state: 'EXPIRED', refundAt: now } }
}

function refundedWith(supply: 'NONE' | 'LOST' | 'RETURNED', state?: SupplierPurchase['state']) {
  const life = givenUp(supply, state)
  const refund = refundOf(life.order)
  const { transaction } = refund
  const order = { ...life.order, payout: { state: 'CONFIRMED', transaction, confirmedAt: now } }
  return { ...life, order: order as In<'FULFILLMENT_FAILED'>, refund }
}

export function worldOf(all: readonly Life[]): World {
  return {
    orders: all.map(({ order }) => order),
    received: all.flatMap(({ payment }) => (payment ? [payment] : [])),
    paidBack: all.flatMap(({ refund }) => (refund ? [refund] : [])),
    purchases: all.flatMap(({ purchase }) => (purchase ? [purchase] : [])),
    misbooked: [],
    goodwill: [],
    checkouts: [],
    strayOrders: [],
    misbookedCheckouts: [],
    invoices: undefined,
    payouts: [],
    hidden: [],
    paidInvoices: [],
    handNotes: new Map(),
    wallets: [
      { role: 'pay_to', address: payTo.toLowerCase(), isPresent: true },
      { role: 'refunds', address: refundWallet, isPresent: true },
    ],
    acknowledged: [],
  }
}

/** The statement of a supplier with these purchases. */
export function statementOf(sold: readonly SupplierPurchase[]): SupplierStatement {
  return {
    purchases: () => pages(sold),
    async purchase(kind, reference) {
      const purchase = sold.find((one) => one.kind === kind && one.reference === reference)
      return purchase ? { outcome: 'found', purchase } : { outcome: 'none' }
    },
  }
}

/** The books of this world, read in pages of two, so that most reads take several pages. */
export function sourcesOf(world: World): Sources {
  const find = (match: (order: Order) => boolean) => world.orders.filter(match)
  return {
    chain: chainOf(world),
    suppliers: new Map([['zendit', statementOf(world.purchases)]]),
    store: {
      oldestBlock: async () => 0,
      byPayments: async (keys) => find(({ payment }) => keys.includes(paymentKeyOf(payment))),
      byIds: async (ids) => find(({ id }) => ids.includes(id)),
      idsOf: async (payers) =>
        find(({ payment }) => payers.includes(payment.payer.toLowerCase())).map(({ id }) => id),
      orders: () => pages(world.orders),
      ledger: async () => ({ received: 0n, open: 0n, delivered: 0n, refunded: 0n }),
      misbooked: async () => world.misbooked,
      goodwill: async () => world.goodwill,
    },
    checkouts: {
      all: () => pages(world.checkouts),
      strayOrders: async () => world.strayOrders,
      ledger: async () => new Map(),
      misbooked: async () => world.misbookedCheckouts,
    },
    processor: world.invoices && {
      async read(id) {
        const invoice = world.invoices?.get(id)
        return invoice ? { outcome: 'found', invoice } : { outcome: 'unknown', reason: 'gone' }
      },
      async payouts(isNamed) {
        const payouts = world.payouts?.filter(({ reference }) => isNamed(reference))
        const { hidden } = world
        return payouts
          ? { outcome: 'found', payouts, hidden }
          : { outcome: 'unknown', reason: 'gone' }
      },
      async paidInvoices(isNamed) {
        const invoices = world.paidInvoices?.filter(({ checkout }) => isNamed(checkout))
        return invoices ? { outcome: 'found', invoices } : { outcome: 'unknown', reason: 'gone' }
      },
    },
    hands: { find: async (reference) => world.handNotes.get(reference) },
    movements: { acknowledged: async () => world.acknowledged },
  }
}

function chainOf(world: World): Sources['chain'] {
  const within = (transfers: readonly ChainTransfer[], from: number, to: number) =>
    pages(transfers.filter(({ block }) => block >= from && block <= to))
  return {
    network: newX402Payment().network,
    asset: newX402Payment().asset,
    wallets: world.wallets,
    holds: async () => usdc(7_000_000n),
    blockBefore: async () => 0,
    blockAt: async (time) => time.getTime() / 1_000,
    heads: async () => ({ newest: safeBlock + 2, safe: safeBlock }),
    received: (from, to) => within(world.received, from, to),
    paidBack: (from, to) => within(world.paidBack, from, to),
    minedAt: async () => new Date(now.getTime() - 3_600_000),
    transferIn: async (transaction, nonce) => transferOf(world, transaction, nonce),
    plainTransfersIn: async (transaction) =>
      world.paidBack.filter((one) => one.transaction === transaction && !one.nonce),
    sentPlainly: (to, from, until) =>
      within(
        world.paidBack.filter((one) => one.to === to && !one.nonce),
        from,
        until,
      ),
    refundNonceOf,
  }
}

function transferOf(world: World, transaction: string, nonce: string) {
  const all = [...world.received, ...world.paidBack]
  return all.find((one) => one.transaction === transaction && one.nonce === nonce)
}

async function* pages<T>(all: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let first = 0; first < all.length; first += 2) yield all.slice(first, first + 2)
}

export const look: Look = {
  now,
  strayAfterMs: 600_000,
  idsFor: (payment) => [idsFor(digest, payment)],
}

import { createHash } from 'node:crypto'
import type { Recipient } from '../../src/catalog/offer.ts'
import type { OfferId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { AdvanceDeps } from '../../src/orders/advance.ts'
import type { In } from '../../src/orders/order.ts'
import type { Allowance } from '../../src/orders/payout.ts'
import type { BudgetRules, StoreEvent } from '../../src/orders/ports.ts'
import type { PurchaseDeps } from '../../src/orders/purchase.ts'
import type { ClaimDeps } from '../../src/orders/refund.ts'
import type {
  Collected,
  Confirmation,
  PaidBack,
  Payment,
  X402Method,
  X402Payment,
  X402Receipt,
} from '../../src/payments/payment.ts'
import { createDigest, createVault, hashOf } from '../../src/secrets/secrets.ts'
import type { Cancelled, Held, Placed, Supplier } from '../../src/suppliers/supplier.ts'
import { newOrderId, newPaymentId } from './ids.ts'
import { memoryOrders } from './memory-orders.ts'
import { noInvoices } from './memory-payouts.ts'

/** A clock that only `pass` moves. */
export function handClock(start = new Date('2026-01-05T12:00:00Z')) {
  let time = start.getTime()
  return {
    now: () => new Date(time),
    pass: (ms: number) => {
      time += ms
    },
  }
}

/** The health of a store that always sells. */
export const alwaysSold: PurchaseDeps['health'] = {
  unsold: () => undefined,
  sell: () => undefined,
  noteOpened: () => undefined,
  unsell: () => undefined,
  means: () => undefined,
}

/** The URL and the words of approvals for a store without pages. */
export const plainWords: PurchaseDeps['approvalWords'] = {
  urlOf: (token) => `/approve#${token}`,
  inWords: ({ offer }) => offer.brandName,
}

/** The answers of the outside, which a test can change at any time. */
export interface Script {
  collected: Collected<X402Receipt>
  confirmation: Confirmation
  paidBack: PaidBack
  placed: Placed
  held: Held
  cancelled: Cancelled
  allowed: Allowance
}

const delivered: Held = {
  outcome: 'delivered',
  delivery: { kind: 'voucher', code: 'SECRET-CODE-1234' },
}

const settled: Collected<X402Receipt> = {
  outcome: 'settled',
  receipt: { method: 'x402', transaction: `0x${'a'.repeat(64)}`, block: 7 },
}

/** The world of an order with a scripted outside. Records every call. */
export function orderWorld(changes: Partial<Script> = {}) {
  const clock = handClock()
  const script: Script = {
    collected: settled,
    confirmation: 'final',
    paidBack: { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` },
    placed: { outcome: 'held' },
    held: delivered,
    cancelled: { outcome: 'refused', reason: 'not this kind' },
    allowed: 'granted',
    ...changes,
  }
  const calls: string[] = []
  const reports: StoreEvent[] = []
  const said = <T>(call: string, answer: T): Promise<T> => {
    calls.push(call)
    return Promise.resolve(answer)
  }
  const method: X402Method = {
    isSignedByPayer: async () => true,
    isUnused: async () => true,
    check: (payment) => said('check', { outcome: 'good', payment }),
    collect: () => said('collect', script.collected),
    confirmationOf: () => said('confirmation', script.confirmation),
    signRefund: ({ reference, payment }) =>
      said('sign', signedRefund(reference, payment.payer, payment.amount)),
    payBack: () => said('payBack', script.paidBack),
  }
  const supplier: Supplier = {
    place: () => said('place', script.placed),
    lookup: () => said('lookup', script.held),
    cancel: () => said('cancel', script.cancelled),
    knowsIccid: () => said('knowsIccid', 'no'),
  }
  const orders = memoryOrders(clock.now)
  const deps: AdvanceDeps & ClaimDeps = {
    budgets: noBudgets,
    now: clock.now,
    orders,
    methods: {
      x402: method,
      btcpay: noInvoices,
    },
    suppliers: { at: () => supplier },
    accepted: new Set(),
    payoutLimits: { allow: () => said('allow', script.allowed) },
    denylist: new Set(),
    vault: createVault([Buffer.alloc(32, 7)]),
    digest: createDigest([Buffer.alloc(32, 7)], 'orders'),
    codes: createDigest([Buffer.alloc(32, 7)], 'recovery-code'),
    notifier: { notify: () => {}, wait: async (_, ms) => clock.pass(ms) },
    stopping: new AbortController().signal,
    policy: { deliverWithinMs: 600_000, refundGraceMs: 6 * 3_600_000, patienceMs: 20_000 },
    report: (event) => reports.push(event),
  }
  return { deps, orders, supplier, script, calls, reports, clock }
}

function signedRefund(order: string, to: string, amount: ReturnType<typeof usdc>) {
  const nonce = `0x${createHash('sha256').update(order).digest('hex')}`
  const signature = `0x${'c'.repeat(130)}`
  return {
    method: 'x402',
    network: 'eip155:84532',
    from: '0xrefunds',
    to,
    amount,
    nonce,
    validBefore: 0,
    signature,
    sinceBlock: 7,
  } as const
}

export function paymentOf(changes: Partial<X402Payment> = {}): X402Payment {
  return {
    method: 'x402',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: `0x${'1'.repeat(40)}`,
    payer: `0x${'2'.repeat(40)}`,
    amount: usdc('500000'),
    nonce: `0x${'3'.repeat(64)}`,
    validAfter: 0,
    validBefore: 4_000_000_000,
    signature: `0x${'4'.repeat(130)}`,
    sinceBlock: 1,
    ...changes,
  }
}

/** The part, which must be of the x402 method. @throws if it is not */
export function onChain<T extends Pick<Payment, 'method'>>(
  part: T,
): Extract<T, { method: 'x402' }> {
  if (part.method !== 'x402') throw new Error(`it is of the method ${part.method}`)
  return part as Extract<T, { method: 'x402' }>
}

/** Budgets without any bound. */
export const noBudgets: BudgetRules = { payer: {}, client: {}, receiver: {}, order: {} }

const testItem = {
  kind: 'voucher',
  offerId: 'TEST-VOUCHER-OK' as OfferId,
  source: { supplier: 'zendit', product: 'TEST-VOUCHER-OK' },
  brandName: 'Test',
} as const

/** An order that has just been opened. */
export function newOrder(
  deps: Pick<AdvanceDeps, 'vault' | 'now'>,
  changes: Partial<In<'PAYMENT_PENDING'>> = {},
): In<'PAYMENT_PENDING'> {
  const id = changes.id ?? newOrderId()
  const recipient: Recipient = { kind: 'voucher', firstName: 'Ada', lastName: 'Lovelace' }
  const payment = paymentOf()
  return {
    state: 'PAYMENT_PENDING',
    id,
    paymentId: newPaymentId(),
    version: 1,
    item: testItem,
    recipient: deps.vault.seal(recipient, { order: id, field: 'recipient' }),
    fingerprint: 'f'.repeat(64),
    accessTokenHash: hashOf('token'),
    payment,
    amount: payment.amount,
    placedAt: deps.now(),
    changedAt: deps.now(),
    ...changes,
  }
}

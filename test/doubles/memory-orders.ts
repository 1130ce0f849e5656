import type { OrderId } from '../../src/lib/ids.ts'
import { isFinished, isRefunding, type Order, restOf } from '../../src/orders/order.ts'
import {
  type ApprovalStore,
  type BudgetRules,
  BudgetSpent,
  type LimitStore,
  type OrderStore,
  type Risk,
  type Subjects,
  TwinFound,
  type Twins,
} from '../../src/orders/ports.ts'
import { dayMs } from '../../src/orders/spending-limits/rules.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import { memoryApprovals } from './memory-approvals.ts'
import { exceededIn, keepClaim, type MemoryClaim, spentIn } from './memory-budgets.ts'
import * as leases from './memory-leases.ts'
import { memoryLimits } from './memory-limits.ts'
import { type MemoryWebhooks, memoryWebhooks } from './memory-webhooks.ts'
import { forgottenBy } from './order-rules.ts'

interface Row extends leases.Leased {
  order: Order
  finishedAt: number | undefined
  keys: readonly string[]
  subjects: Subjects | undefined
  twin: string | undefined
}

/**
 * An order store in memory, for tests that force faults or run thousands of orders. It keeps the rules that
 * those tests need; `books.test.ts` holds its moves against PostgreSQL.
 */
export interface MemoryOrders extends OrderStore {
  /** Every version of every order, the oldest first. */
  readonly history: Order[]
  /** The current version of every order. */
  current(): readonly Order[]
  /** Ends the lease of an order now. */
  endLease(id: OrderId): void
  /** The spending limits that apply to new orders. */
  readonly limits: LimitStore
  /** The webhooks of its orders, which are told of every move. */
  readonly webhooks: MemoryWebhooks
  /** The approvals that its spending limits require. */
  readonly approvals: ApprovalStore
  /** When the next order is due; epoch milliseconds, Infinity if none is. */
  nextDue(): number
}

export function memoryOrders(now: () => Date): MemoryOrders {
  const rows = new Map<string, Row>()
  const claims: MemoryClaim[] = []
  const history: Order[] = []
  const time = () => now().getTime()
  const all = () => [...rows.values()]

  function write(order: Order, { keys, subjects, twin }: Pick<Row, 'keys' | 'subjects' | 'twin'>) {
    const finished = isFinished(order)
    const restMs = restOf(order)
    rows.set(order.id, {
      order,
      keys: order.state === 'PAYMENT_FAILED' ? [] : keys,
      subjects,
      twin,
      finishedAt: finished ? time() : undefined,
      ...leaseAfter(finished, restMs),
    })
    history.push(order)
  }

  function leaseAfter(finished: boolean, restMs: number | null): leases.Leased {
    if (finished) return leases.resting(time())
    return restMs === null ? leases.leased(time()) : leases.resting(time(), restMs)
  }

  const spentNow = (subjects: Subjects, rules: BudgetRules, at: Date, risk?: Risk) =>
    spentIn(all(), subjects, rules, at) ?? (risk && exceededIn(all(), subjects, risk))

  const find = (test: (row: Row) => boolean) => all().find(test)?.order
  const byPayer = (payer: string) =>
    all().filter(({ order }) => order.payment.payer.toLowerCase() === payer.toLowerCase())

  const byAddress = (address: string | undefined) =>
    find(({ keys }) => address !== undefined && keys.includes(address))

  function earlierThan({ payment }: Order, ownKeys: readonly string[], address?: string) {
    const same = find(({ order }) => paymentKeyOf(order.payment) === paymentKeyOf(payment))
    const sameKey = byPayer(payment.payer).find(({ keys }) =>
      keys.some((key) => ownKeys.includes(key)),
    )
    return same ?? sameKey?.order ?? byAddress(address)
  }

  const webhooks = memoryWebhooks(time)
  const approvals = memoryApprovals()
  const limits = memoryLimits(
    (payer) => byPayer(payer).map(({ order }) => order),
    approvals.hasUsed,
  )

  return {
    history,
    limits,
    webhooks,
    approvals,
    current: () => all().map(({ order }) => order),

    async open(order, ownKeys, { recipients, counted, webhook, twins, address } = {}) {
      const keys = [...ownKeys, ...[address ?? []].flat()]
      const earlier = earlierThan(order, ownKeys, address)
      if (earlier) return { isNew: false, order: earlier }
      const { subjects, rules, float } = counted ?? {}
      const { amount } = order
      const risk = float === undefined ? undefined : { float, amount }
      const spent = subjects && rules && spentNow(subjects, rules, order.placedAt, risk)
      if (spent) throw new BudgetSpent(spent)
      requireNoTwin(all(), order, twins)
      limits.requireWithin(order, recipients)
      write(order, { keys, subjects, twin: twins?.digests[0] })
      return { isNew: true, order, ...(webhook && { webhook: webhooks.opened(order, webhook) }) }
    },

    async move(from, to) {
      const row = rows.get(from.id)
      if (!row) throw new Error(`The order ${from.id} was never opened`)
      if (row.order.version !== from.version) return { won: false, record: row.order }
      const forgotten = forgottenBy(row.order, to)
      if (forgotten) throw new Error(`order ${from.id}: ${forgotten}`)
      const order = { ...to, version: from.version + 1 }
      write(order, row)
      webhooks.moved(row.order, order)
      return { won: true, record: order }
    },

    async release(order, againInMs) {
      const row = rows.get(order.id)
      if (row?.order.version === order.version) leases.release(row, time(), againInMs)
    },

    async hasten(id) {
      const row = rows.get(id)
      if (row) leases.hasten(row, time())
    },

    claimDue: async (limit, method) => {
      const rows = all().filter(
        ({ order }) => method === undefined || order.payment.method === method,
      )
      return leases.claimDue(rows, time(), limit).map(({ order }) => order)
    },

    endLease(id) {
      const row = rows.get(id)
      if (row) row.lockedUntil = time()
    },

    nextDue: () => leases.nextDue(all()),

    find: async (id) => rows.get(id)?.order,
    findByPaymentId: async (id) => find(({ order }) => order.paymentId === id),
    findByTransaction: async (hash) =>
      find(
        ({ order }) =>
          'receipt' in order && order.receipt.transaction.toLowerCase() === hash.toLowerCase(),
      ),
    findByPayment: async (key) => find(({ order }) => paymentKeyOf(order.payment) === key),
    findByKey: async (payer, key) => byPayer(payer).find(({ keys }) => keys.includes(key))?.order,
    findOnlyByKey: async (key) => {
      const [row, other] = all().filter(({ keys }) => keys.includes(key))
      return other ? undefined : row?.order
    },
    findByAddress: async (address) => byAddress(address),
    hasKey: async (id, keys) => rows.get(id)?.keys.some((key) => keys.includes(key)) ?? false,

    hasJustReceived: async (receivers, at) =>
      all().some((row) => isJustReceived(row, receivers, at)),

    async listByPayer(payer, { kind, limit, offset }) {
      const items = byPayer(payer)
        .map(({ order }) => order)
        .filter((order) => kind === undefined || order.item.kind === kind)
        .sort((one, other) => other.placedAt.getTime() - one.placedAt.getTime())
      return { total: items.length, items: items.slice(offset, offset + limit) }
    },

    plansOf: async (digest) =>
      all()
        .map(({ order }) => order)
        .filter((order) => order.state === 'FULFILLED' && order.iccidDigest === digest)
        .map(({ payment, item }) => ({
          payer: payment.payer.toLowerCase(),
          brandName: item.brandName,
        })),

    claimRefund: async ({ id, version }, claim, rules) =>
      keepClaim(claims, { ...claim, order: id, version, at: time() }, rules, now()),

    spentBudget: async (...asked) => spentNow(...asked),

    async forgetNeverPaid(endedBefore) {
      const latest = Math.min(endedBefore.getTime(), time() - dayMs)
      const never = all().filter(
        ({ order, finishedAt = Infinity }) =>
          order.state === 'PAYMENT_FAILED' &&
          finishedAt < latest &&
          !history.some(({ id, state }) => id === order.id && state === 'PAID'),
      )
      for (const { order } of never) rows.delete(order.id)
      return never.length
    },

    erasePersonal: async () => 0,
    forgetKeys: async () => 0,
  }
}

const twinMs = 600_000
const soonMs = 120_000

/** Does the same as the trigger of the database. @throws TwinFound */
function requireNoTwin(rows: readonly Row[], { placedAt, payment }: Order, twins?: Twins): void {
  if (!twins) return
  const { digests, isAnother, receivers = [] } = twins
  const same = rows.filter(
    (row) =>
      (!isAnother && isTwin(row, digests, placedAt)) || isJustReceived(row, receivers, placedAt),
  )
  if (same.length === 0) return
  const own = same.filter(({ order }) => order.payment.payer === payment.payer)
  throw new TwinFound(own.map(({ order }) => order.id).reverse())
}

function isTwin({ order, twin = '' }: Row, digests: readonly string[], at: Date): boolean {
  return digests.includes(twin) && isWithin(twinMs, order, at)
}

function isJustReceived({ order, subjects }: Row, receivers: readonly string[], at: Date): boolean {
  return receivers.includes(subjects?.receiver ?? '') && isWithin(soonMs, order, at)
}

const isWithin = (ms: number, order: Order, at: Date) =>
  at.getTime() - order.placedAt.getTime() < ms && mayStand(order)

/** Whether its goods or its payment may still come. */
function mayStand(order: Order): boolean {
  if (order.state === 'PAYMENT_FAILED' || isRefunding(order)) return false
  return !('settlement' in order && order.settlement === 'LOST')
}

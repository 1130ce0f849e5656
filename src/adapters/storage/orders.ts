import { randomUUID } from 'node:crypto'
import { never } from '../../lib/errors.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { FoundBy } from '../../orders/finding.ts'
import {
  entriesOf,
  type In,
  isFinished,
  isRefunding,
  type Order,
  payoutStateOf,
  type Refunding,
  refundStateOf,
  restOf,
} from '../../orders/order.ts'
import {
  type LimitName,
  LimitReached,
  type Opened,
  type OpenedFor,
  type OrderPage,
  type OrderPageRequest,
  type OrderStore,
  TwinFound,
} from '../../orders/ports.ts'
import type { WebhookState } from '../../orders/webhooks/ports.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import { blockOf, type Payment, paymentKeyOf } from '../../payments/payment.ts'
import {
  attempt,
  claimDue,
  type Database,
  hasten,
  isRefused,
  type LeasedTable,
  prepared,
  raised,
  refusedWith,
  release,
  restored,
  storable,
  writeNext,
} from './database.ts'
import { forgettingOrders } from './forgetting.ts'
import { budgetSpentIn, budgetsOf, claimRefund, spentBudget } from './limits.ts'

export const orderColumns = 'version, recipient, delivery, doc, write_id'

export interface StoredOrder {
  readonly version: number
  readonly recipient: string | null
  readonly delivery: string | null
  readonly doc: unknown
  readonly write_id: string
}

export function columnsOf(order: Order) {
  const { version: _, recipient, delivery, ...doc } = { delivery: undefined, ...order }
  return {
    state: order.state,
    refundState: refundStateOf(order),
    outcome: outcomeOf(order),
    settlement: 'settlement' in order ? order.settlement : null,
    transactionHash: 'receipt' in order ? order.receipt.transaction.toLowerCase() : null,
    refundTransactionHash: refundTransactionOf(order),
    iccidDigest: order.state === 'FULFILLED' ? (order.iccidDigest ?? null) : null,
    changedAt: order.changedAt,
    isFinished: isFinished(order),
    /** How long no worker needs the order, in milliseconds; the write then ends the lease. Null: it renews the lease. */
    restMs: restOf(order),
    recipient: recipient ?? null,
    delivery: delivery ?? null,
    doc: JSON.stringify(storable(doc)),
  }
}

export function orderOf({ version, recipient, delivery, doc }: Omit<StoredOrder, 'write_id'>) {
  return {
    ...(restored(doc) as object),
    version,
    recipient: recipient ?? undefined,
    ...(delivery === null ? {} : { delivery }),
  } as Order
}

function outcomeOf(order: Order): 'DELIVER' | 'REFUND' | null {
  if (isRefunding(order)) return 'REFUND'
  return order.state === 'FULFILLED' ? 'DELIVER' : null
}

function refundTransactionOf(order: Order): string | null {
  if (!isRefunding(order) || order.payout?.state !== 'CONFIRMED') return null
  return order.payout.transaction.toLowerCase()
}

/** The entry in the history, which is never erased: no free text, in which a phone number may be repeated. */
function eventOf(order: Order, { request, recovery }: Partial<FoundBy> = {}) {
  const opened = { ...(request && { request }), ...(recovery && { recovery }) }
  return {
    payoutState: isRefunding(order) ? payoutStateOf(order) : null,
    detail: JSON.stringify(storable({ ...detailOf(order), ...opened })),
  }
}

/** What is undefined is not stored. */
function detailOf(order: Order): object {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return {}
    case 'FULFILLED':
      return { charge: order.charge }
    case 'PAYMENT_FAILED':
      return { code: order.code }
    case 'PAID':
    case 'FULFILLING': {
      const { receipt } = order
      const asked = order.state === 'PAID' ? {} : supplierDetail(order)
      return { transaction: receipt.transaction, block: blockOf(receipt), ...asked }
    }
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED': {
      const { failure, payout, supply } = order
      return {
        ...{ trigger: failure.trigger, code: failure.code, supply: supply.state },
        ...supplierDetail(order),
        transaction: payout?.state === 'CONFIRMED' ? payout.transaction : undefined,
        refundCode: payout?.state === 'FAILED' ? payout.code : undefined,
      }
    }
    default:
      return never(order)
  }
}

function supplierDetail(order: Pick<Refunding, 'askedAgainAt' | 'acceptedAt'>): object {
  return { askedAgain: order.askedAgainAt && true, accepted: order.acceptedAt && true }
}

const table: LeasedTable = { name: 'orders', columns: orderColumns }

const ofMethod: Readonly<Record<Payment['method'], LeasedTable>> = {
  x402: { ...table, only: "doc #>> '{payment,method}' = 'x402'" },
  btcpay: { ...table, only: "doc #>> '{payment,method}' = 'btcpay'" },
}

export function createOrderStore(database: Database): OrderStore {
  const find = async (by: keyof typeof readStatements, ...values: readonly string[]) => {
    const stored = await readBy(database, by, ...values)
    return stored && orderOf(stored)
  }
  return {
    open: (order, keys, opened) => openOrder(database, order, keys, opened),
    spentBudget: spentBudget(database),
    move: (from, to) => move(database, from, to),
    release: (order, againInMs) => release(database, table, order, againInMs),
    hasten: (id) => hasten(database, table, 'id', id),
    claimDue: async (limit, method) => {
      const due = method === undefined ? table : ofMethod[method]
      return (await claimDue<StoredOrder>(database, due, limit)).map(orderOf)
    },
    find: (id) => find('id', id),
    findByPaymentId: (id) => find('paymentId', id),
    findByTransaction: (hash) => find('transaction', hash.toLowerCase()),
    findByPayment: (paymentKey) => find('paymentKey', paymentKey),
    findByKey: (payer, key) => find('key', payer.toLowerCase(), key),
    findOnlyByKey: (key) => find('onlyKey', key),
    findByAddress: (address) => find('key', anyPayer, address),
    hasKey: async (id, keys) => {
      const { rowCount } = await database.query(
        'select 1 from idempotency_keys where order_id = $1 and key = any ($2::text[]) limit 1',
        [id, keys],
      )
      return rowCount === 1
    },
    listByPayer: (payer, page) => listByPayer(database, payer, page),
    hasJustReceived: async (receivers, at) => {
      const sql = 'select from just_received($1, $2) limit 1'
      return (await database.query(sql, [receivers, at])).rowCount === 1
    },
    plansOf: async (iccidDigest) => {
      const { rows } = await database.query<{ payer: string; brandName: string }>(
        `select payer, doc #>> '{item,brandName}' as "brandName" from orders
        where iccid_digest = $1 and outcome = 'DELIVER' order by placed_at`,
        [iccidDigest],
      )
      return rows
    },
    claimRefund: claimRefund(database),
    ...forgettingOrders(database),
  }
}

const by = (name: string, found: string) =>
  prepared(`order_by_${name}`, `select ${orderColumns} from ${found}`)

const readStatements = {
  id: by('id', 'orders where id = $1'),
  paymentId: by('payment_id', 'orders where payment_id = $1'),
  transaction: by(
    'transaction',
    'orders where transaction_hash = $1 order by placed_at, id limit 1',
  ),
  paymentKey: by('payment_key', 'payments join orders on id = order_id where payment_key = $1'),
  key: by(
    'key',
    `orders where id = (select order_id from idempotency_keys where payer = $1 and key = $2)`,
  ),
  // Two of them are enough to know that it is not the only one.
  onlyKey: by(
    'only_key',
    `orders where id = (
       select min(order_id)
       from (select order_id from idempotency_keys where key = $1 limit 2) as one
       having count(*) = 1)`,
  ),
} as const

async function readBy(
  database: Database,
  key: keyof typeof readStatements,
  ...values: readonly string[]
): Promise<StoredOrder | undefined> {
  const { rows } = await database.query<StoredOrder>(readStatements[key]([...values]))
  return rows[0]
}

/** Whose the key of an address is: it buys once, whoever pays. */
const anyPayer = ''

/** One statement, so that count and page agree. Past the end it returns only the count. */
const listSql = `
  with mine as not materialized (
    select ${orderColumns}, placed_at, id from orders
    where payer = $1 and ($2::text is null or kind = $2)
  ), page as (
    select * from mine order by placed_at desc, id desc limit $3 offset $4
  )
  select (select count(*)::int from mine) as total, page.*
  from (select 1) as once left join page on true
  order by page.placed_at desc, page.id desc`

async function listByPayer(
  database: Database,
  payer: string,
  { kind, limit, offset }: OrderPageRequest,
): Promise<OrderPage> {
  type Row = StoredOrder & { readonly id: string | null; readonly total: number }
  const values = [payer.toLowerCase(), kind ?? null, limit, offset]
  const { rows } = await database.query<Row>(listSql, values)
  const items = rows.filter(({ id }) => id !== null).map(orderOf)
  return { total: rows[0]?.total ?? 0, items }
}

/**
 * Whichever inserts the row in `payments` opens the order. Equal requests share the order id too, so `on conflict`
 * names no index. A used key, a twin, a limit or a budget fails the whole statement; one webhook too many fails nothing.
 */
const openStatement = prepared(
  'open_order',
  `
  with claimed as (
    insert into payments (payment_key, order_id) values ($1, $2)
    on conflict do nothing
    returning order_id
  ), opened as (
    insert into orders (id, payment_id, version, write_id, state, kind, offer_id, payer, amount,
      placed_at, changed_at, due_at, locked_until, recipient, doc, checks, client, receiver, twin)
    select order_id, $3::text, 1, $4::uuid, $5::text, $6::text, $7::text, $8::text, $9::numeric,
      $10::timestamptz, $11::timestamptz, now(), now() + $12 * interval '1 ms', $13::text, $14::jsonb,
      $18::jsonb, $19::text, $20::text, $23::text
    from claimed
    returning id, version, state
  ), keyed as (
    insert into idempotency_keys (payer, key, order_id, created_at)
    select owner, key, opened.id, now() from opened, unnest($24::text[], $15::text[]) as keys (owner, key)
  ), noted as (
    insert into order_events (order_id, seq, at, state, payout_state, detail)
    select id, version, now(), state, $16::text, $17::jsonb from opened
  ), received as (
    insert into order_persons (order_id, person) select id, person from opened, unnest($25::text[]) as person
  ), hooked as (
    insert into order_webhooks (order_id, payer, receiver, target)
    select id, $8::text, $21::text, $22::text from opened where $22::text is not null
    returning state
  )
  select id, (select state from hooked) as webhook from opened`,
)

const unnamed: FoundBy = { persons: [] }

async function openOrder(
  database: Database,
  order: In<'PAYMENT_PENDING'>,
  keys: readonly string[],
  opened: OpenedFor = {},
): Promise<Opened> {
  const { counted, webhook, twins, address, foundBy = unnamed } = opened
  const payer = order.payment.payer.toLowerCase()
  const paymentKey = paymentKeyOf(order.payment)
  const owned = ownedKeys(payer, keys, address)
  const writeId = randomUUID()
  const columns = columnsOf(order)
  const { payoutState, detail } = eventOf(order, foundBy)
  const statement = openStatement([
    ...[paymentKey, order.id, order.paymentId, writeId, columns.state],
    ...[order.item.kind, order.item.offerId, payer, order.amount.toString()],
    ...[order.placedAt, order.changedAt, leaseMs, columns.recipient, columns.doc],
    ...[owned.map(({ key }) => key), payoutState, detail, checksOf(opened)],
    ...[counted?.subjects.client, counted?.subjects.receiver, webhook?.receiver, webhook?.target],
    ...[twins?.digests[0], owned.map(({ owner }) => owner), foundBy.persons],
  ])
  const written = await attempt(database, statement, isHeldUp)
  if (written.outcome === 'done') {
    const { webhook: state } = written.row as { readonly webhook: WebhookState | null }
    return { isNew: true, order: { ...order, version: 1 }, ...(state && { webhook: state }) }
  }
  const stored =
    written.outcome === 'taken'
      ? await firstByKeys(database, owned)
      : await readBy(database, 'paymentKey', paymentKey)
  // A key that was used before leads to its order, even if a limit or a twin stopped this statement.
  if (!stored) throw refusalIn(written.error) ?? new Error(`Order ${order.id} was refused`)
  if (stored.write_id !== writeId) return { isNew: false, order: orderOf(stored) }
  const state = await webhookStateOf(database, order.id)
  return { isNew: true, order: orderOf(stored), ...(state && { webhook: state }) }
}

function checksOf({ recipients = [], counted, twins }: OpenedFor): string {
  return JSON.stringify({
    recipients: recipients.join('\n') || undefined,
    budgets: counted?.rules && budgetsOf(counted.rules, counted.float),
    twins: twins?.isAnother ? undefined : twins?.digests,
    receivers: twins?.receivers,
  })
}

async function webhookStateOf(
  database: Database,
  order: OrderId,
): Promise<WebhookState | undefined> {
  const sql = 'select state from order_webhooks where order_id = $1'
  const { rows } = await database.query<{ state: WebhookState }>(sql, [order])
  return rows[0]?.state
}

function isHeldUp(error: unknown): boolean {
  const isTaken = isRefused(error) && error.code === '23505' && error.table === 'idempotency_keys'
  return isTaken || refusalIn(error) !== error
}

function refusalIn(error: unknown): unknown {
  const twin = refusedWith(error, raised.twin)
  if (twin) return new TwinFound((twin.detail ?? '').split(' ').filter(Boolean) as OrderId[])
  const limit = refusedWith(error, raised.walletLimit)
  return limit ? new LimitReached(limit.detail as LimitName) : (budgetSpentIn(error) ?? error)
}

interface OwnedKey {
  readonly owner: string
  readonly key: string
}

/** Sorted, so that two statements with the same keys cannot deadlock. */
function ownedKeys(payer: string, keys: readonly string[], address?: string): OwnedKey[] {
  const owned = [...new Set(keys)].map((key) => ({ owner: payer, key }))
  const all = address === undefined ? owned : [...owned, { owner: anyPayer, key: address }]
  return all.sort((one, other) => (one.key < other.key ? -1 : 1))
}

async function firstByKeys(
  database: Database,
  keys: readonly OwnedKey[],
): Promise<StoredOrder | undefined> {
  for (const { owner, key } of keys) {
    const stored = await readBy(database, 'key', owner, key)
    if (stored) return stored
  }
  return undefined
}

/** A payment that is proven to have failed frees its idempotency keys: the next one with a key is a new purchase. */
const moveStatement = prepared(
  'move_order',
  `
  with moved as (
    update orders set
      version = version + 1,
      write_id = $3,
      state = $4,
      refund_state = $5,
      outcome = $6,
      transaction_hash = $7,
      refund_transaction_hash = $8,
      iccid_digest = $9,
      changed_at = $10,
      finished_at = case when $11::boolean then now() end,
      due_at = case when $11::boolean then null
        else now() + coalesce($18::integer, 0) * interval '1 ms' end,
      locked_until = case when $11::boolean or $18::integer is not null then now()
        else now() + $12 * interval '1 ms' end,
      recipient = $13,
      delivery = $14,
      doc = $15,
      settlement = $19
    where id = $1 and version = $2
    returning id, version, state
  ), noted as (
    insert into order_events (order_id, seq, at, state, payout_state, detail)
    select id, version, now(), state, $16, $17 from moved
  ), booked as (
    insert into ledger (order_id, seq, account, amount, at)
    select id, version, account, amount, now()
    from moved, unnest($20::text[], $21::numeric[]) as entry (account, amount)
  ), freed as (
    delete from idempotency_keys
    where order_id = $1 and $4 = 'PAYMENT_FAILED' and exists (select 1 from moved)
  )
  select id from moved`,
)

function move(database: Database, from: Order, to: Order): Promise<Moved<Order>> {
  const columns = columnsOf(to)
  const { payoutState, detail } = eventOf(to)
  const entries = entriesOf(from, to)
  return writeNext<StoredOrder, Order>(database, from, to, {
    write: (writeId) =>
      moveStatement([
        ...[from.id, from.version, writeId, columns.state, columns.refundState, columns.outcome],
        ...[columns.transactionHash, columns.refundTransactionHash, columns.iccidDigest],
        ...[columns.changedAt, columns.isFinished, leaseMs, columns.recipient, columns.delivery],
        ...[columns.doc, payoutState, detail, columns.restMs, columns.settlement],
        entries.map(({ account }) => account),
        entries.map(({ amount }) => amount.toString()),
      ]),
    readRow: () => readBy(database, 'id', from.id),
    recordOf: orderOf,
  })
}

import { randomUUID } from 'node:crypto'
import { entriesOf } from '../../orders/ledger.ts'
import type { In, Order } from '../../orders/order.ts'
import { LimitReached, type Opened, type OpenedFor } from '../../orders/ports.ts'
import { limitNames } from '../../orders/spending-limits/rules.ts'
import type { WebhookState } from '../../orders/webhooks/ports.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import { attempt, writeNext } from './attempt.ts'
import { type Database, isRefused, prepared } from './database.ts'
import { eventOf } from './order-event.ts'
import { readBy, readByKey, type StoredOrder } from './order-reads.ts'
import { columnsOf, orderOf } from './order-row.ts'
import { budgetSpentIn, budgetValues } from './spent-budgets.ts'
import { webhookStateOf } from './webhooks.ts'

/**
 * The row in `payments` claims the payment: the statement that inserts it opens the order, all others do
 * nothing. Equal requests share the order id as well, and either index may report the conflict first, so
 * `on conflict` names none. A used idempotency key, a limit of the payer or an exhausted budget
 * (003-limits.sql) fails the whole statement, and with it the claim. One webhook too many fails nothing
 * (009-buyer-webhooks.sql).
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
      placed_at, changed_at, due_at, locked_until, recipient, doc, recipient_digest, client, receiver, budgets)
    select order_id, $3::text, 1, $4::uuid, $5::text, $6::text, $7::text, $8::text, $9::numeric,
      $10::timestamptz, $11::timestamptz, now(), now() + $12 * interval '1 ms', $13::text, $14::jsonb,
      $18::text, $19::text, $20::text, $21::jsonb
    from claimed
    returning id, version, state
  ), keyed as (
    insert into idempotency_keys (payer, key, order_id, created_at)
    select $8::text, key, opened.id, now() from opened, unnest($15::text[]) as key
  ), noted as (
    insert into order_events (order_id, seq, at, state, refund_step, detail)
    select id, version, now(), state, $16::text, $17::jsonb from opened
  ), hooked as (
    insert into order_webhooks (order_id, payer, receiver, target)
    select id, $8::text, $22::text, $23::text from opened where $23::text is not null
    returning state
  )
  select id, (select state from hooked) as webhook from opened`,
)

export async function open(
  database: Database,
  order: In<'PAYMENT_PENDING'>,
  keys: readonly string[],
  { recipient, counted, webhook }: OpenedFor = {},
): Promise<Opened> {
  const payer = order.tender.payer.toLowerCase()
  const paymentKey = paymentKeyOf(order.tender)
  // Sorted, so that two statements with the same keys cannot deadlock.
  const sortedKeys = [...new Set(keys)].sort()
  const writeId = randomUUID()
  const values = openValues(order, {
    payer,
    paymentKey,
    writeId,
    keys: sortedKeys,
    recipient,
    counted,
    webhook,
  })
  const written = await attempt(database, openStatement(values), isHeldUp)
  if (written.outcome === 'done') {
    const { webhook: state } = written.row as { readonly webhook: WebhookState | null }
    return { isNew: true, order: { ...order, version: 1 }, ...(state && { webhook: state }) }
  }
  const stored =
    written.outcome === 'taken'
      ? await firstByKeys(database, payer, sortedKeys)
      : await readBy(database, 'paymentKey', paymentKey)
  // A key that was used before leads to its order, even if a limit stopped this statement.
  if (!stored)
    throw (
      limitReached(written.error) ??
      budgetSpentIn(written.error) ??
      written.error ??
      new Error(`Order ${order.id} was refused for no reason`)
    )
  const isNew = stored.write_id === writeId
  const state = isNew && webhook ? await webhookStateOf(database, order.id) : undefined
  return { isNew, order: orderOf(stored), ...(state && { webhook: state }) }
}

function openValues(
  order: In<'PAYMENT_PENDING'>,
  claim: {
    payer: string
    paymentKey: string
    writeId: string
    keys: readonly string[]
  } & OpenedFor,
): unknown[] {
  const { state, recipient, doc } = columnsOf(order)
  const { refundStep, detail } = eventOf(order)
  return [
    claim.paymentKey,
    order.id,
    order.paymentId,
    claim.writeId,
    state,
    order.item.kind,
    order.item.offerId,
    claim.payer,
    order.amount.toString(),
    order.placedAt,
    order.changedAt,
    leaseMs,
    recipient,
    doc,
    claim.keys,
    refundStep,
    detail,
    claim.recipient ?? null,
    ...budgetValues(claim.counted),
    claim.webhook?.receiver ?? null,
    claim.webhook?.target ?? null,
  ]
}

/**
 * Writes the order, its event and its ledger entries. A payment that is proven to have failed frees the
 * buyer's idempotency keys: the next payment with the same key is a new purchase.
 */
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
    insert into order_events (order_id, seq, at, state, refund_step, detail)
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

export async function move(database: Database, from: Order, to: Order): Promise<Moved<Order>> {
  if (to.id !== from.id) throw new Error(`Order ${from.id} cannot become ${to.id}`)
  const stored = await writeNext(database, from, {
    write: (writeId) => moveStatement(moveValues(from, to, writeId)),
    read: () => readBy(database, 'id', from.id),
  })
  return stored
    ? { won: false, record: orderOf(stored) }
    : { won: true, record: { ...to, version: from.version + 1 } }
}

function moveValues(from: Order, to: Order, writeId: string): unknown[] {
  const columns = columnsOf(to)
  const { refundStep, detail } = eventOf(to)
  const entries = entriesOf(from, to)
  return [
    from.id,
    from.version,
    writeId,
    columns.state,
    columns.refundState,
    columns.outcome,
    columns.transactionHash,
    columns.refundTransactionHash,
    columns.iccidDigest,
    columns.changedAt,
    columns.isFinished,
    leaseMs,
    columns.recipient,
    columns.delivery,
    columns.doc,
    refundStep,
    detail,
    columns.restMs,
    columns.settlement,
    entries.map(({ account }) => account),
    entries.map(({ amount }) => amount.toString()),
  ]
}

/** Whether the statement failed because of a used key, a limit of the payer or an exhausted budget. */
function isHeldUp(error: unknown): boolean {
  const isTaken = isRefused(error) && error.constraint === 'idempotency_keys_pkey'
  return isTaken || limitReached(error) !== undefined || budgetSpentIn(error) !== undefined
}

function limitReached(error: unknown): LimitReached | undefined {
  if (!isRefused(error)) return undefined
  const limit = limitNames.find((name) => error.constraint === `wallet_limit_${name}`)
  return limit && new LimitReached(limit)
}

async function firstByKeys(
  database: Database,
  payer: string,
  keys: readonly string[],
): Promise<StoredOrder | undefined> {
  for (const key of keys) {
    const stored = await readByKey(database, payer, key)
    if (stored) return stored
  }
  return undefined
}

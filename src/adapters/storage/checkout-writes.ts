import { randomUUID } from 'node:crypto'
import type { Checkout, CheckoutIn } from '../../checkouts/checkout.ts'
import { checkoutEntriesOf } from '../../checkouts/ledger.ts'
import { TooManyUnpaid, type UnpaidBound } from '../../checkouts/ports.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import { attempt, writeNext } from './attempt.ts'
import { readCheckoutBy } from './checkout-reads.ts'
import { checkoutColumnsOf, checkoutDetailOf, checkoutOf } from './checkout-row.ts'
import { type Database, isRefused, prepared } from './database.ts'

/**
 * A form sent twice conflicts in two indexes, that of the form and that of the checkout id, and either may
 * report it first. So both are looked up when the statement is refused. An order id that another checkout
 * has is a defect of the store.
 */
const openStatement = prepared(
  'open_checkout',
  `
  with opened as (
    insert into checkouts (id, order_id, version, write_id, state, form_key, kind, offer_id, coin,
      amount, recipient, refund_to, started_at, changed_at, due_at, locked_until, doc, client, unpaid)
    values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
      now(), now() + $14 * interval '1 ms', $15, $17, $18)
    returning id, version, state
  ), noted as (
    insert into checkout_events (checkout_id, seq, at, state, detail)
    select id, version, now(), state, $16 from opened
  )
  select id from opened`,
)

export async function openCheckout(
  database: Database,
  checkout: CheckoutIn<'OPENING'>,
  bound?: UnpaidBound,
): Promise<{ readonly isNew: boolean; readonly checkout: Checkout }> {
  const writeId = randomUUID()
  const values = [...openValues(checkout, writeId), ...boundValues(bound)]
  const written = await attempt(database, openStatement(values), isTaken).catch((error) => {
    throw tooManyUnpaidIn(error) ?? error
  })
  if (written.outcome === 'done') return { isNew: true, checkout: { ...checkout, version: 1 } }
  const stored =
    (await readCheckoutBy(database, 'formKey', checkout.formKeyHash)) ??
    (await readCheckoutBy(database, 'id', checkout.id))
  if (!stored) throw written.error ?? new Error(`Checkout ${checkout.id} was refused for no reason`)
  return { isNew: stored.write_id === writeId, checkout: checkoutOf(stored) }
}

function openValues(checkout: CheckoutIn<'OPENING'>, writeId: string): unknown[] {
  const { state, recipient, refundTo, changedAt, doc } = checkoutColumnsOf(checkout)
  return [
    checkout.id,
    checkout.orderId,
    writeId,
    state,
    checkout.formKeyHash,
    checkout.item.kind,
    checkout.item.offerId,
    checkout.coin,
    checkout.amount.toString(),
    recipient,
    refundTo,
    checkout.startedAt,
    changedAt,
    leaseMs,
    doc,
    checkoutDetailOf(checkout),
  ]
}

/** The values of a new checkout for the trigger that counts the unpaid ones of its client (005-checkout-rules.sql). */
function boundValues(bound: UnpaidBound | undefined): (string | null)[] {
  if (!bound) return [null, null]
  const { client, most, states } = bound
  return [client, JSON.stringify({ most, states })]
}

function tooManyUnpaidIn(error: unknown): TooManyUnpaid | undefined {
  if (!isRefused(error) || error.constraint !== 'unpaid_checkouts') return undefined
  return new TooManyUnpaid(Number(error.detail))
}

function isTaken(error: unknown): boolean {
  return isRefused(error) && error.code === '23505' && error.table === 'checkouts'
}

/** Writes the checkout, its event and its ledger entries. */
const moveStatement = prepared(
  'move_checkout',
  `
  with moved as (
    update checkouts set
      version = version + 1,
      write_id = $3,
      state = $4,
      order_id = $5,
      form_key = $6,
      coin = $7,
      recipient = $8,
      refund_to = $9,
      changed_at = $10,
      finished_at = case when $11::boolean then coalesce(finished_at, now()) end,
      due_at = case when $11::boolean then null else now() end,
      locked_until = case when $11::boolean then now() else now() + $12 * interval '1 ms' end,
      doc = $13
    where id = $1 and version = $2
    returning id, version, state
  ), noted as (
    insert into checkout_events (checkout_id, seq, at, state, detail)
    select id, version, now(), state, $14 from moved
  ), booked as (
    insert into checkout_ledger (checkout_id, seq, account, units, at)
    select id, version, account, units, now()
    from moved, unnest($15::text[], $16::numeric[]) as entry (account, units)
  )
  select id from moved`,
)

export async function moveCheckout(
  database: Database,
  from: Checkout,
  to: Checkout,
): Promise<Moved<Checkout>> {
  if (to.id !== from.id) throw new Error(`Checkout ${from.id} cannot become ${to.id}`)
  const stored = await writeNext(database, from, {
    write: (writeId) => moveStatement(moveValues(from, to, writeId)),
    read: () => readCheckoutBy(database, 'id', from.id),
  })
  return stored
    ? { won: false, record: checkoutOf(stored) }
    : { won: true, record: { ...to, version: from.version + 1 } }
}

/** Includes the fields that never change, so that the database refuses a write that would change one. */
function moveValues(from: Checkout, to: Checkout, writeId: string): unknown[] {
  const columns = checkoutColumnsOf(to)
  const entries = checkoutEntriesOf(from, to)
  return [
    from.id,
    from.version,
    writeId,
    columns.state,
    to.orderId,
    to.formKeyHash,
    to.coin,
    columns.recipient,
    columns.refundTo,
    columns.changedAt,
    columns.isFinished,
    leaseMs,
    columns.doc,
    checkoutDetailOf(to),
    entries.map(({ account }) => account),
    entries.map(({ amount }) => amount.toString()),
  ]
}

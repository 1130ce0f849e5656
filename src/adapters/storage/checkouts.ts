import { randomUUID } from 'node:crypto'
import {
  type Checkout,
  type CheckoutIn,
  checkoutEntriesOf,
  isClosed,
  isInvoiced,
  type Return,
  signedReturn,
} from '../../checkouts/checkout.ts'
import { type CheckoutStore, TooManyUnpaid, type UnpaidBound } from '../../checkouts/ports.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { FoundBy } from '../../orders/finding.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import {
  attempt,
  claimDue,
  type Database,
  hasten,
  inBatches,
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

export const checkoutColumns = 'version, recipient, refund_to, doc, write_id'

export interface StoredCheckout {
  readonly version: number
  readonly recipient: string | null
  readonly refund_to: string | null
  readonly doc: unknown
  readonly write_id: string
}

const table: LeasedTable = { name: 'checkouts', columns: checkoutColumns }

export function createCheckoutStore(database: Database): CheckoutStore {
  const find = async (by: keyof typeof readStatements, ...values: readonly string[]) => {
    const stored = await readBy(database, by, ...values)
    return stored && checkoutOf(stored)
  }
  return {
    open: (checkout, bound, foundBy) => openCheckout(database, checkout, bound, foundBy),
    move: (from, to) => move(database, from, to),
    release: (checkout, againInMs) => release(database, table, checkout, againInMs),
    hasten: (invoice) => hasten(database, table, 'invoice_id', invoice),
    claimDue: async (limit) =>
      (await claimDue<StoredCheckout>(database, table, limit)).map(checkoutOf),
    find: (id) => find('id', id),
    findByOrder: (id) => find('order', id),
    findByTransaction: (hash) => find('transaction', hash),
    findByAddress: (address) => find('address', address),
    holderOf: (coin, address) => find('heldAddress', coin, address),
    erasePersonal: (endedBefore, signal) =>
      inBatches(database, eraseSql('finished_at < $1'), [endedBefore], signal),
    forgetNeverPaid: (endedBefore, signal) => inBatches(database, forgetSql, [endedBefore], signal),
  }
}

const by = (name: string, condition: string) =>
  prepared(`checkout_by_${name}`, `select ${checkoutColumns} from checkouts where ${condition}`)

const readStatements = {
  id: by('id', 'id = $1'),
  order: by('order', 'order_id = $1'),
  formKey: by('form', `form_key = $1 and state <> 'REFUSED'`),
  transaction: by(
    'transaction',
    'transactions @> array[lower($1)] order by started_at, id limit 1',
  ),
  /** An address may have had several checkouts, one after the other. */
  address: by('address', 'addresses @> array[lower($1)] limit 1'),
  heldAddress: by(
    'held_address',
    'coin = $1 and addresses @> array[lower($2)] and finished_at is null',
  ),
} as const

async function readBy(
  database: Database,
  key: keyof typeof readStatements,
  ...values: readonly string[]
): Promise<StoredCheckout | undefined> {
  const { rows } = await database.query<StoredCheckout>(readStatements[key]([...values]))
  return rows[0]
}

function checkoutColumnsOf(checkout: Checkout) {
  const { version: _, recipient, refundTo, ...doc } = checkout
  const returns = isInvoiced(checkout) ? { returns: checkout.returns.map(unsigned) } : {}
  return {
    recipient: recipient ?? null,
    refundTo: refundTo === '' ? null : refundTo,
    doc: JSON.stringify(storable({ ...doc, ...returns })),
  }
}

/** `signed` repeats what the checkout has, among it the buyer's address, which is erased in time. */
function unsigned({ payout, ...one }: Return) {
  if (payout.state !== 'APPROVED') return { ...one, payout }
  const { signed: _, ...rest } = payout
  return { ...one, payout: rest }
}

export function checkoutOf({ version, recipient, refund_to, doc }: StoredCheckout): Checkout {
  const checkout = {
    ...(restored(doc) as object),
    version,
    recipient: recipient ?? undefined,
    refundTo: refund_to ?? '',
  } as Checkout
  if (!isInvoiced(checkout)) return checkout
  const returns = checkout.returns.map((one): Return => {
    if (one.payout.state !== 'APPROVED') return one
    return { ...one, payout: { ...one.payout, signed: signedReturn(checkout, one) } }
  })
  return { ...checkout, returns }
}

/** The entry in the history, which is never erased: no free text, and no addresses. */
function eventOf(checkout: Checkout, { request }: Partial<FoundBy> = {}): string {
  return JSON.stringify(storable({ ...detailOf(checkout), ...(request && { request }) }))
}

function detailOf(checkout: Checkout): object {
  if (checkout.state === 'REFUSED') return { code: checkout.code }
  if (!isInvoiced(checkout)) return {}
  const { invoice, returns, closedAt } = checkout
  return {
    invoice: invoice.id,
    status: invoice.status,
    payments: invoice.payments.map(({ id, units, status }) => ({ id, units, status })),
    returns: returns.map(({ seq, units, why, payout }) => ({
      ...{ seq, units, why, state: payout.state },
      transaction: payout.state === 'CONFIRMED' ? payout.transaction : undefined,
      code: payout.state === 'FAILED' ? payout.code : undefined,
    })),
    ...(checkout.state === 'ORDERED' && { price: checkout.price, placed: checkout.isPlaced }),
    closed: closedAt && true,
  }
}

/** A form sent twice conflicts in two indexes, of the form and of the checkout id: both are looked up then. */
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
  ), received as (
    insert into order_persons (order_id, person) select $2, person from opened, unnest($19::text[]) as person
  )
  select id from opened`,
)

async function openCheckout(
  database: Database,
  checkout: CheckoutIn<'OPENING'>,
  bound?: UnpaidBound,
  foundBy?: FoundBy,
): Promise<{ readonly isNew: boolean; readonly checkout: Checkout }> {
  const writeId = randomUUID()
  const { recipient, refundTo, doc } = checkoutColumnsOf(checkout)
  const { kind, offerId } = checkout.item
  const statement = openStatement([
    ...[checkout.id, checkout.orderId, writeId, checkout.state, checkout.formKeyHash],
    ...[kind, offerId, checkout.coin, checkout.amount.toString(), recipient, refundTo],
    ...[checkout.startedAt, checkout.changedAt, leaseMs, doc],
    ...[eventOf(checkout, foundBy), bound?.client ?? null, bound ? JSON.stringify(bound) : null],
    foundBy?.persons ?? [],
  ])
  const written = await attempt(database, statement, isTaken).catch((error) => {
    const refused = refusedWith(error, raised.unpaidCheckouts)
    throw refused ? new TooManyUnpaid(Number(refused.detail)) : error
  })
  if (written.outcome === 'done') return { isNew: true, checkout: { ...checkout, version: 1 } }
  const stored =
    (await readBy(database, 'formKey', checkout.formKeyHash)) ??
    (await readBy(database, 'id', checkout.id))
  if (!stored) throw written.error ?? new Error(`Checkout ${checkout.id} was refused for no reason`)
  return { isNew: stored.write_id === writeId, checkout: checkoutOf(stored) }
}

function isTaken(error: unknown): boolean {
  return isRefused(error) && error.code === '23505' && error.table === 'checkouts'
}

/** Includes the fields that never change, so that the database refuses a write that would change one. */
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

function move(database: Database, from: Checkout, to: Checkout): Promise<Moved<Checkout>> {
  const { recipient, refundTo, doc } = checkoutColumnsOf(to)
  const entries = checkoutEntriesOf(from, to)
  return writeNext<StoredCheckout, Checkout>(database, from, to, {
    write: (writeId) =>
      moveStatement([
        ...[from.id, from.version, writeId, to.state, to.orderId, to.formKeyHash, to.coin],
        ...[recipient, refundTo, to.changedAt, isClosed(to), leaseMs, doc, eventOf(to)],
        entries.map(({ account }) => account),
        entries.map(({ amount }) => amount.toString()),
      ]),
    readRow: () => readBy(database, 'id', from.id),
    recordOf: checkoutOf,
  })
}

/** Increments the version, so that no worker writes the old fields back. Keeps an address that money goes back to. */
const eraseSql = (which: string) => `
  with ended as materialized (
    select id as ended_id from checkouts
    where ${which} and recipient is not null
    order by finished_at
    limit $2
    for update skip locked
  ), erased as (
    update checkouts set
      version = version + 1,
      write_id = gen_random_uuid(),
      recipient = null,
      client = null,
      refund_to = case when state = 'ORDERED' or returning_units > 0 then refund_to end
    from ended where id = ended_id
    returning id, order_id, version, state
  ), unnamed as (
    delete from order_persons using erased where order_persons.order_id = erased.order_id
      and not exists (select from orders where orders.id = erased.order_id)
  ), noted as (
    insert into checkout_events (checkout_id, seq, at, state, detail)
    select id, version, now(), state, '{"erased": true}' from erased
  )
  select id from erased`

/** Of those that have ended, by the ids of their orders. Returns how many. */
export async function eraseCheckouts(
  database: Database,
  orders: readonly OrderId[],
): Promise<number> {
  const which = 'finished_at is not null and order_id = any ($1)'
  const { rowCount } = await database.query(eraseSql(which), [orders, null])
  return rowCount ?? 0
}

const forgetSql = `
  with gone as (
    delete from checkouts where id = any (array (
      select id from checkouts
      where state in ('REFUSED', 'ENDED') and settled = 0 and transactions = '{}'
        and finished_at < least($1, now() - interval '90 days')
      order by finished_at limit $2 for update skip locked))
    returning order_id
  ), unnamed as (
    delete from order_persons using gone where order_persons.order_id = gone.order_id
  )
  select order_id from gone`

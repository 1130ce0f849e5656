import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import { archivedBy } from './archived-orders.ts'
import type { Database } from './database.ts'

/** Orders, each with the checkout that it was paid through, and checkouts that became no order. */
type Archived = 'orders' | 'checkouts'

/** An order or a checkout with all its rows, as one line of a file. */
interface ArchiveLine {
  readonly kind: Archived
  readonly id: string
  readonly version: number
  /** The month in which it ended, in UTC: `2026-01`. */
  readonly month: string
  /** JSON on one line. */
  readonly text: string
}

/** A written file. */
export interface ArchiveFile {
  readonly file: string
  readonly sha256: string
  /** The number of its lines. */
  readonly orders: number
}

/** A file whose lines may not all have moved yet. */
export type OpenArchive = ArchiveFile & { readonly id: string }

/** An archived order or checkout, and the file that contains it. */
type ArchivedIn = Omit<ArchiveFile, 'orders'> & { readonly id: OrderId | CheckoutId }

/** Moves what ended long ago out of the tables (docs/contributors/decisions/018-archived-orders.md). */
export interface Archive {
  /** All that ended before this time and may move, page by page. */
  lines(endedBefore: Date): AsyncIterable<readonly ArchiveLine[]>
  /** Records a file before any of its lines move. */
  begin(file: ArchiveFile): Promise<OpenArchive>
  /** Files whose archiving was not finished. */
  unfinished(): Promise<readonly OpenArchive[]>
  /**
   * Moves these lines, all or none, except those that changed since they were written.
   *
   * @returns how many this call moved
   */
  move(archive: OpenArchive, lines: readonly Pick<ArchiveLine, 'id' | 'version'>[]): Promise<number>
  finish(archive: OpenArchive): Promise<void>
  /** The number of orders, and of checkouts that became none, that ended before this time and are not archived. */
  left(endedBefore: Date): Promise<number>
  /** The file of an order or a checkout, by its id, the id of its payment or its transaction. */
  fileOf(name: string): Promise<ArchivedIn | undefined>
}

/** Rows that one statement examines. Usually few of them may move. */
const lookedAtOnce = 2_000

/** The records of payouts also stay in their tables, so that no payout is ever sent twice. */
const checkoutJson = `
  jsonb_build_object(
    'row', to_jsonb(paid),
    'events', (select jsonb_agg(noted order by seq) from checkout_events noted where checkout_id = paid.id),
    'ledger', (select jsonb_agg(entry order by seq, account) from checkout_ledger entry
      where checkout_id = paid.id),
    'grants', (select jsonb_agg(granted order by seq) from return_grants granted where checkout_id = paid.id),
    'payouts', (select jsonb_agg(seen) from processor_payouts seen where reference = any (names.its)),
    'handPayouts', (select jsonb_agg(made) from hand_payouts made where reference = any (names.its)))`

/** Reads the page of rows after an id, and returns those that may move; `last` is the last id of the page. */
const linesSql: Readonly<Record<Archived, string>> = {
  orders: `
  with page as materialized (select id from orders where id > $1 order by id limit $3)
  select last, id, version, month, text
  from (select max(id) as last from page) as read left join lateral (
    select one.id, one.version, to_char(one.finished_at at time zone 'UTC', 'YYYY-MM') as month,
      jsonb_build_object(
        'order', to_jsonb(one),
        'payment', (select payment_key from payments where order_id = one.id),
        'events', (select jsonb_agg(noted order by seq) from order_events noted where order_id = one.id),
        'ledger', (select jsonb_agg(entry order by seq) from ledger entry where order_id = one.id),
        'grant', (select to_jsonb(granted) from refund_grants granted where order_id = one.id),
        'checkout', (select ${checkoutJson} from checkouts paid,
          lateral (select array(select paid.id || '-' || seq from checkout_returns(paid.doc)) || one.id as its) as names
          where paid.order_id = one.id)
      )::text as text
    from page join orders one using (id)
    where one.finished_at < $2 and may_be_archived(one)
  ) as line on true
  order by id`,
  checkouts: `
  with page as materialized (select id from checkouts where id > $1 order by id limit $3)
  select last, id, version, month, text
  from (select max(id) as last from page) as read left join lateral (
    select paid.id, paid.version, to_char(paid.finished_at at time zone 'UTC', 'YYYY-MM') as month,
      jsonb_build_object('checkout', ${checkoutJson})::text as text
    from page join checkouts paid using (id),
      lateral (select array(select paid.id || '-' || seq from checkout_returns(paid.doc)) as its) as names
    where paid.finished_at < $2 and returns_are_over(paid)
  ) as line on true
  order by id`,
}
const kinds = ['orders', 'checkouts'] as const satisfies readonly Archived[]

/** Counts what has ended and may be archived now or later. */
const leftSql = `
  select (select count(*) from orders where finished_at < $1)::int
    + (select count(*) from checkouts one
        where state = 'ENDED' and finished_at < $1 and not was_never_paid(one))::int as left`

const fileOfSql = `
  select archived_orders.id, file, sha256 from archived_orders join archives on archives.id = archive
  where ${archivedBy.id} or ${archivedBy.paymentId} or ${archivedBy.transaction}
  union all
  select one.id, file, sha256 from archived_checkouts one join archives on archives.id = archive
  where one.id = $1 or transactions @> array[lower($1)]
  order by 1 limit 1`

const columns = 'id::text, file, sha256, orders'

export function createArchive(database: Database): Archive {
  return {
    async *lines(endedBefore) {
      for (const kind of kinds) yield* linesOf(database, kind, endedBefore)
    },
    async begin({ file, sha256, orders }) {
      const { rows } = await database.query<OpenArchive>(
        `insert into archives (file, sha256, orders) values ($1, $2, $3) returning ${columns}`,
        [file, sha256, orders],
      )
      return rows[0] as OpenArchive
    },
    async unfinished() {
      const { rows } = await database.query<OpenArchive>(
        `select ${columns} from archives where done_at is null order by archives.id`,
      )
      return rows
    },
    async move(archive, lines) {
      const { rows } = await database.query<{ moved: number }>(
        'select move_to_archive($1, $2, $3) + move_returns_to_archive($1, $2, $3) as moved',
        [archive.id, lines.map(({ id }) => id), lines.map(({ version }) => version)],
      )
      return rows[0]?.moved ?? 0
    },
    async finish({ id }) {
      await database.query(
        'update archives set done_at = now() where id = $1 and done_at is null',
        [id],
      )
    },
    async left(endedBefore) {
      const { rows } = await database.query<{ left: number }>(leftSql, [endedBefore])
      return rows[0]?.left ?? 0
    },
    async fileOf(name) {
      const { rows } = await database.query<ArchivedIn>(fileOfSql, [name])
      return rows[0]
    },
  }
}

async function* linesOf(
  database: Database,
  kind: Archived,
  endedBefore: Date,
): AsyncGenerator<readonly ArchiveLine[]> {
  type Row = Omit<ArchiveLine, 'kind'> & { readonly last: string | null }
  let after: string | null = ''
  while (after !== null) {
    const asked: unknown[] = [after, endedBefore, lookedAtOnce]
    const { rows }: { rows: Row[] } = await database.query<Row>(linesSql[kind], asked)
    yield rows.filter(({ id }) => id !== null).map((row) => ({ ...row, kind }))
    after = rows[0]?.last ?? null
  }
}

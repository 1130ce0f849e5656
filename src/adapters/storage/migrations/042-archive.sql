-- Orders that ended long ago move out of the tables into files, month by month
-- (docs/decisions/018-archived-orders.md). What stays of each is one row: its closing line in the books,
-- and what the chain and the supplier are compared with. The claim on its payment stays too.

-- One file of orders that ended in one month. It is written and synced before any order moves.
create table archives (
  id bigint generated always as identity primary key,
  -- Its name has the month and a part of the digest, so no other file takes its place.
  file text not null unique,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  orders integer not null check (orders >= 1),
  written_at timestamptz not null default now(),
  -- When no order of the file was left in the tables.
  done_at timestamptz
);

create table archived_orders (
  id text primary key,
  archive bigint not null references archives (id),
  payer text not null,
  amount numeric(39, 0) not null,
  -- Where the money is: what was received is the amount, and it is there. Null where none came, or
  -- the payment vanished for good.
  account text check (account in ('delivered', 'refunded')),
  iccid_digest text,
  -- The order without what only its buyer needs.
  doc jsonb not null
);

create index archived_refunds on archived_orders (payer) where account = 'refunded';
create index archived_esims on archived_orders (iccid_digest, payer) where iccid_digest is not null;

create function archived_doc(doc jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(key, value) || jsonb_build_object(
      'fingerprint', '', 'accessTokenHash', '',
      'tender', doc -> 'tender' || '{"signature": "0x"}',
      'item', jsonb_build_object('kind', doc #> '{item,kind}', 'offerId', doc #> '{item,offerId}', 'brandName', ''))
    || case when doc ? 'failure'
      then jsonb_build_object('failure', jsonb_build_object('trigger', doc #> '{failure,trigger}', 'message', ''))
      else '{}' end
  from jsonb_each(doc)
  where key in ('id', 'paymentId', 'state', 'amount', 'placedAt', 'changedAt', 'receipt', 'settlement', 'paidAt',
    'deliverBy', 'deliveredAt', 'refund', 'supply', 'code', 'reason')
$$;

-- What may move: an order that ended three months ago, paid in USDC, whose money is delivered or went back
-- or never came, without personal fields, and without a key or a claim that may be sent again. Orders of
-- invoices stay with their checkouts.
create function archivable(one orders) returns boolean language sql stable as $$
  select one.finished_at < now() - interval '90 days'
    and one.doc #>> '{tender,rail}' = 'x402'
    and (one.state = 'PAYMENT_FAILED' or one.settlement = 'LOST' or one.outcome = 'DELIVER'
      or one.refund_state = 'REFUNDED')
    and one.recipient is null and one.client is null and one.receiver is null
    and not exists (select from idempotency_keys where order_id = one.id)
    and not exists (select from refund_claims where order_id = one.id)
    and not exists (select from order_mail where order_id = one.id)
$$;

create function is_archived(wanted text) returns boolean language sql volatile as $$
  select exists (select from archived_orders where id = wanted)
$$;

-- Moves those of these orders that may move and are as they were written to the file. All of a call count,
-- or none.
create function archive_orders(into_archive bigint, ids text[], versions integer[]) returns integer
language plpgsql as $$
declare
  moved text[];
begin
  select array_agg(id) into moved from (
    select one.id from orders one join unnest(ids, versions) as written (id, version)
      on one.id = written.id and one.version = written.version
    where archivable(one) order by one.id for update of one) as picked;
  insert into archived_orders (id, archive) select id, into_archive from unnest(moved) as id;
  delete from refund_grants where order_id = any (moved);
  delete from ledger where order_id = any (moved);
  delete from order_events where order_id = any (moved);
  delete from orders where id = any (moved);
  return coalesce(cardinality(moved), 0);
end
$$;

-- The row is the order's own, whoever inserts it.
create function guard_archived_order() returns trigger language plpgsql as $$
declare
  one orders;
begin
  select * into one from orders where id = new.id for update;
  if one.id is null or not archivable(one) then
    raise exception 'order %: it may not be archived', new.id;
  end if;
  if exists (select from archives where id = new.archive and done_at is not null) then
    raise exception 'order %: its archive is closed', new.id;
  end if;
  new.payer := one.payer;
  new.amount := one.amount;
  new.account := case when one.settlement is distinct from 'FINAL' then null
    when one.outcome = 'DELIVER' then 'delivered' else 'refunded' end;
  new.iccid_digest := case when one.outcome = 'DELIVER' then one.iccid_digest end;
  new.doc := archived_doc(one.doc);
  return new;
end
$$;

create trigger guard_archived_order before insert on archived_orders
  for each row execute function guard_archived_order();
create trigger keep_archived_orders before update or delete or truncate on archived_orders
  for each statement execute function refuse_change();

-- At the commit an order is in one place: never in both, and its money is booked once.
create function check_archived() returns trigger language plpgsql as $$
begin
  if exists (select from orders where id = new.id) or exists (select from ledger where order_id = new.id)
    or not exists (select from payments where order_id = new.id) then
    raise exception 'order %: it is archived in part', new.id;
  end if;
  return null;
end
$$;

create constraint trigger check_archived after insert on archived_orders
  deferrable initially deferred for each row execute function check_archived();

create function guard_archive() returns trigger language plpgsql as $$
begin
  if old.done_at is not null or new.done_at is null
    or (new.id, new.file, new.sha256, new.orders, new.written_at)
      is distinct from (old.id, old.file, old.sha256, old.orders, old.written_at) then
    raise exception 'archive %: what was written never changes', old.file;
  end if;
  return new;
end
$$;

create trigger guard_archive before update on archives for each row execute function guard_archive();
create trigger keep_archives before delete or truncate on archives
  for each statement execute function refuse_change();

-- What was archived may go from the tables, with its entries and its grant. The claim on the payment never
-- does, so that it opens no other order; it outlives the order that it names.
alter table payments drop constraint payments_order_id_fkey;

create or replace function keep_what_was_paid() returns trigger language plpgsql as $$
declare
  its_order text := case when tg_table_name = 'orders' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'order_id' end;
begin
  if tg_table_name <> 'payments' and is_archived(its_order) then return old; end if;
  if not never_paid(its_order) then
    raise exception '% keeps what was written: no delete', tg_table_name;
  end if;
  return old;
end
$$;

drop trigger keep_ledger on ledger;
create trigger keep_ledger before update or truncate on ledger
  for each statement execute function refuse_change();
create trigger keep_open_ledger before delete on ledger
  for each row execute function keep_what_was_paid();
drop trigger keep_refund_grants on refund_grants;
create trigger keep_refund_grants before update or truncate on refund_grants
  for each statement execute function refuse_change();
create trigger keep_open_grants before delete on refund_grants
  for each row execute function keep_what_was_paid();

-- Every order on record, wherever it is: for whoever compares all of them.
create view all_orders as
  select id, version, recipient, delivery, doc, write_id from orders
  union all
  select id, 1, null, null, doc, null from archived_orders;

-- Orders that ended long ago move out of the tables into files, month by month, with the checkouts that paid them
-- (docs/contributors/decisions/018-archived-orders.md). One row stays of each: its closing line in the books, and what the
-- chain, the supplier and the payment processor are compared with. The claim on its payment stays too.

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

create table archived_orders (
  id text primary key,
  archive bigint not null references archives (id),
  payer text not null,
  amount numeric(39, 0) not null,
  -- Where the money is: what was received is the amount, and it is there. Null if none was received, or if the payment
  -- was dropped for good.
  account text check (account in ('delivered', 'refunded')),
  iccid_digest text,
  -- The order without what only its buyer needs.
  doc jsonb not null
);

create index archived_refunds on archived_orders (payer) where account = 'refunded';
create index archived_esims on archived_orders (iccid_digest, payer) where iccid_digest is not null;
-- A request that names the transaction or the payment id of an archived order is told that it is archived. Hash indexes
-- take the least room: there is an entry for every order, for ever.
create index archived_by_transaction on archived_orders using hash (lower(doc ->> 'transaction'));
create index archived_by_payment_id on archived_orders using hash ((doc ->> 'paymentId'));

create table archived_checkouts (
  id text primary key,
  order_id text not null unique,
  coin text not null,
  refund_to text,
  -- In units of the coin. What is left of what was received was kept.
  received numeric(39, 0) not null,
  price numeric(39, 0) not null,
  returned numeric(39, 0) not null,
  address text not null,
  transactions text[] not null,
  doc jsonb not null
);

-- By these its buyer finds it, and the address is never accepted as a refund address.
create index archived_checkouts_by_address on archived_checkouts using hash (address);
create index archived_checkouts_by_transaction on archived_checkouts using gin (transactions);

-- A closed checkout without personal fields never changes again: nothing is due, and no payment is watched for. The
-- processor may still have a payout of it that it does not finish.
create function is_at_rest(one checkouts) returns boolean language sql stable as $$
  select one.state = 'ORDERED' and one.finished_at < now() - interval '90 days'
    and one.recipient is null and one.client is null
    and not exists (select from processor_payouts where waits_since is not null
      and (reference = one.order_id or reference in (
        select one.id || '-' || seq from checkout_returns(one.doc))))
$$;

-- An order that ended three months ago, whose money was delivered or refunded or never arrived, without personal fields,
-- and without a key or a claim that may be sent again.
create function ended_for_good(one orders) returns boolean language sql stable as $$
  select one.finished_at < now() - interval '90 days'
    and (one.state = 'PAYMENT_FAILED' or one.settlement = 'LOST' or one.outcome = 'DELIVER'
      or one.refund_state = 'REFUNDED')
    and one.recipient is null and one.client is null and one.receiver is null
    and not exists (select from idempotency_keys where order_id = one.id)
    and not exists (select from refund_claims where order_id = one.id)
    and not exists (select from order_mail where order_id = one.id)
$$;

create function may_be_archived(one orders) returns boolean language sql stable as $$
  select ended_for_good(one) and (one.doc #>> '{tender,rail}' = 'x402' or exists (
    select from checkouts where order_id = one.id and is_at_rest(checkouts)))
$$;

create function is_archived(wanted text) returns boolean language sql volatile as $$
  select exists (select from archived_orders where id = wanted)
$$;

-- What chain and supplier are compared with, and nothing else: there is one for every order, for ever. The supplier and
-- the payment method are kept where they are not the first ones. A wallet is the same in any case of its letters; the
-- refund address of a coin is not.
create function archived_doc(doc jsonb) returns jsonb language sql immutable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'paymentId', doc -> 'paymentId', 'state', doc -> 'state', 'settlement', doc -> 'settlement',
    'kind', doc #> '{item,kind}', 'placedAt', doc -> 'placedAt', 'deliveredAt', doc -> 'deliveredAt',
    'network', doc #> '{tender,network}', 'asset', doc #> '{tender,asset}', 'payTo', doc #> '{tender,payTo}',
    'nonce', doc #> '{tender,nonce}', 'block', doc #> '{receipt,block}',
    'transaction', doc #> '{receipt,transaction}', 'refund', doc -> 'refund', 'supply', doc -> 'supply',
    'trigger', doc #> '{failure,trigger}', 'code', doc -> 'code',
    'supplier', nullif(doc #>> '{item,source,supplier}', 'zendit')))
    || case when doc #>> '{tender,rail}' = 'x402' then '{}' else jsonb_build_object(
      'rail', doc #> '{tender,rail}', 'invoice', doc #> '{tender,invoice}', 'units', doc #> '{tender,units}',
      'payer', doc #> '{tender,payer}') end
$$;

-- An order again, with what is gone left empty.
create function order_doc(archived archived_orders) returns jsonb language sql immutable as $$
  select jsonb_build_object(
      'id', archived.id, 'paymentId', kept -> 'paymentId', 'state', kept -> 'state', 'amount', atomic,
      'fingerprint', '', 'accessTokenHash', '', 'placedAt', placed, 'changedAt', placed,
      'item', jsonb_build_object('kind', kept -> 'kind', 'offerId', '', 'brandName', '')
        || case when kept ? 'supplier' then jsonb_build_object(
          'source', jsonb_build_object('supplier', kept -> 'supplier', 'product', '')) else '{}' end,
      'tender', jsonb_build_object('rail', rail, 'network', kept -> 'network', 'asset', kept -> 'asset',
        'payTo', kept -> 'payTo', 'payer', coalesce(kept -> 'payer', to_jsonb(archived.payer)), 'amount', atomic,
        'nonce', kept -> 'nonce')
        || case rail when 'x402' then jsonb_build_object('validAfter', 0, 'validBefore', 0, 'signature', '0x',
          'sinceBlock', coalesce(kept -> 'block', '0'))
        else jsonb_build_object('invoice', kept -> 'invoice', 'units', kept -> 'units') end)
    || case when kept ? 'transaction' then jsonb_build_object(
      'receipt', jsonb_build_object('rail', rail, 'transaction', kept -> 'transaction')
        || case rail when 'x402' then jsonb_build_object('block', kept -> 'block') else '{}' end,
      'settlement', kept -> 'settlement', 'paidAt', placed, 'deliverBy', placed) else '{}' end
    || case kept ->> 'state'
      when 'FULFILLED' then jsonb_build_object('deliveredAt', kept -> 'deliveredAt')
      when 'PAYMENT_FAILED' then jsonb_build_object('code', kept -> 'code', 'reason', '')
      else jsonb_build_object('refund', kept -> 'refund', 'supply', kept -> 'supply',
        'failure', jsonb_build_object('trigger', kept -> 'trigger', 'message', '')) end
  from (select archived.doc as kept, archived.doc -> 'placedAt' as placed,
    coalesce(archived.doc ->> 'rail', 'x402') as rail,
    jsonb_build_object('$bigint', archived.amount::text) as atomic) as parts
$$;

-- Moves those of these orders that may move and are as they were written to the file, with their checkouts. All of a
-- call are moved, or none.
create function move_to_archive(into_archive bigint, ids text[], versions integer[]) returns integer
language plpgsql as $$
declare
  moved text[];
  paid text[];
begin
  select array_agg(id) into moved from (
    select one.id from orders one join unnest(ids, versions) as written (id, version)
      on one.id = written.id and one.version = written.version
    where may_be_archived(one) order by one.id for update of one) as picked;
  select array_agg(id) into paid from checkouts where order_id = any (moved);
  insert into archived_orders (id, archive) select id, into_archive from unnest(moved) as id;
  insert into archived_checkouts (id) select id from unnest(paid) as id;
  delete from return_grants where checkout_id = any (paid);
  delete from checkout_ledger where checkout_id = any (paid);
  delete from checkout_events where checkout_id = any (paid);
  delete from checkouts where id = any (paid);
  delete from refund_grants where order_id = any (moved);
  delete from ledger where order_id = any (moved);
  delete from order_events where order_id = any (moved);
  delete from orders where id = any (moved);
  return coalesce(cardinality(moved), 0);
end
$$;

-- The row is the order's own, whatever is inserted.
create function guard_archived_order() returns trigger language plpgsql as $$
declare
  one orders;
begin
  select * into one from orders where id = new.id for update;
  if one.id is null or not may_be_archived(one) then
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

create function guard_archived_checkout() returns trigger language plpgsql as $$
declare
  one checkouts;
begin
  select * into one from checkouts where id = new.id for update;
  if one.id is null or not is_at_rest(one)
    or not exists (select from archived_orders where id = one.order_id) then
    raise exception 'checkout %: it may not be archived', new.id;
  end if;
  new.order_id := one.order_id;
  new.coin := one.coin;
  new.refund_to := one.refund_to;
  new.received := one.settled;
  new.price := one.price;
  new.returned := one.returned;
  new.address := lower(one.doc #>> '{invoice,address}');
  new.transactions := one.transactions;
  new.doc := (one.doc - 'subjects') || jsonb_build_object(
    'fingerprint', '', 'accessTokenHash', '', 'formKeyHash', '',
    'item', jsonb_build_object('kind', one.kind, 'offerId', '', 'brandName', ''),
    'invoice', one.doc -> 'invoice' || '{"paymentLink": ""}');
  return new;
end
$$;

create trigger guard_archived_checkout before insert on archived_checkouts
  for each row execute function guard_archived_checkout();
create trigger keep_archived_checkouts before update or delete or truncate on archived_checkouts
  for each statement execute function refuse_change();

-- At the commit an order is in one place, with its checkout where it had one: never in both, and its money is booked
-- once.
create function check_archived() returns trigger language plpgsql as $$
begin
  if exists (select from orders where id = new.id) or exists (select from ledger where order_id = new.id)
    or not exists (select from payments where order_id = new.id)
    or exists (select from checkouts where order_id = new.id)
    or new.doc ->> 'rail' = 'btcpay'
      and not exists (select from archived_checkouts where order_id = new.id) then
    raise exception 'order %: it is archived in part', new.id;
  end if;
  return null;
end
$$;

create constraint trigger check_archived after insert on archived_orders
  deferrable initially deferred for each row execute function check_archived();

-- A checkout that was archived or never paid may be deleted, and nothing else.
create function keep_open_checkout() returns trigger language plpgsql as $$
declare
  its_checkout text := case when tg_table_name = 'checkouts' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'checkout_id' end;
begin
  if exists (select from archived_checkouts where id = its_checkout)
    or exists (select from checkouts one where id = its_checkout and was_never_paid(one)) then
    return old;
  end if;
  raise exception '% keeps what was written: no delete', tg_table_name;
end
$$;

create trigger keep_open_checkouts before delete on checkouts
  for each row execute function keep_open_checkout();
create trigger keep_checkouts before truncate on checkouts
  for each statement execute function refuse_change();
create trigger keep_open_checkout_events before delete on checkout_events
  for each row execute function keep_open_checkout();
create trigger keep_checkout_events before update or truncate on checkout_events
  for each statement execute function refuse_change();
create trigger keep_open_checkout_ledger before delete on checkout_ledger
  for each row execute function keep_open_checkout();
create trigger keep_checkout_ledger before update or truncate on checkout_ledger
  for each statement execute function refuse_change();
create trigger keep_open_return_grants before delete on return_grants
  for each row execute function keep_open_checkout();
create trigger keep_return_grants before update or truncate on return_grants
  for each statement execute function refuse_change();

-- The ids of a checkout follow from its form: sent again, it would have an address to pay at and an order that nothing
-- can open.
create function refuse_archived_checkout() returns trigger language plpgsql as $$
begin
  if exists (select from archived_checkouts where id = new.id) then
    raise exception 'checkout %: it was archived', new.id
      using errcode = 'check_violation', constraint = 'archived_checkout';
  end if;
  return new;
end
$$;

create trigger refuse_archived_checkout before insert on checkouts
  for each row execute function refuse_archived_checkout();

-- Every order and every checkout on record, wherever it is.
create view all_orders as
  select id, version, recipient, delivery, doc, write_id from orders
  union all
  select archived.id, 1, null, null, order_doc(archived), null from archived_orders archived;

create view all_checkouts as
  select id, version, recipient, refund_to, doc, write_id from checkouts
  union all
  select id, 1, null, refund_to, doc, null from archived_checkouts;

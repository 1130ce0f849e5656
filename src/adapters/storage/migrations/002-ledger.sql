-- The ledger: double entries in atomic USDC, written with the move they belong to and never changed. What was
-- received is positive, and where it is now is negative.
create table ledger (
  order_id text not null references orders (id),
  seq integer not null,
  account text not null check (account in ('received', 'open', 'delivered', 'refunded')),
  amount numeric(39, 0) not null check (amount <> 0),
  at timestamptz not null,
  primary key (order_id, seq, account)
);

create index ledger_refunded_by_time on ledger (at) include (order_id) where account = 'refunded';

-- At every commit the entries of an order say what its state says, and sum to zero. They are checked when the
-- transaction ends, because the order and its entries are written one after the other.
create function check_books() returns trigger language plpgsql as $$
declare
  booked jsonb;
  due jsonb := '{}';
  checked orders;
  checked_id text := case when tg_table_name = 'ledger' then to_jsonb(new) ->> 'order_id'
    else to_jsonb(new) ->> 'id' end;
begin
  select * into checked from orders where id = checked_id;
  if checked.settlement in ('SEEN', 'FINAL') then
    due := jsonb_build_object('received', checked.amount, case
      when checked.outcome = 'DELIVER' then 'delivered'
      when checked.refund_state = 'REFUNDED' then 'refunded'
      else 'open' end, -checked.amount);
  end if;
  select coalesce(jsonb_object_agg(account, sum), '{}') into booked from (
    select account, sum(amount) as sum from ledger where order_id = checked_id
    group by account having sum(amount) <> 0) as sums;
  if booked <> due then
    raise exception 'order %: the ledger says %, and its state says %', checked_id, booked, due;
  end if;
  return null;
end
$$;

create constraint trigger check_books_of_new after insert on orders
  deferrable initially deferred for each row execute function check_books();
create constraint trigger check_books_of_moved after update on orders
  deferrable initially deferred for each row
  when (new.version <> old.version) execute function check_books();
create constraint trigger check_books_of_entry after insert on ledger
  deferrable initially deferred for each row execute function check_books();

-- Refunds that may be signed, granted one by one under the caps.
create table refund_grants (
  order_id text primary key references orders (id),
  amount numeric(39, 0) not null check (amount >= 1),
  granted_at timestamptz not null
);

create index refund_grants_by_time on refund_grants (granted_at) include (amount);

-- A grant is for what its order was paid, because the caps are sums of grants.
create function guard_refund_grant() returns trigger language plpgsql as $$
begin
  perform from orders where id = new.order_id and amount = new.amount
    and outcome = 'REFUND' and settlement = 'FINAL';
  if not found then
    raise exception 'order %: no refund of % is to be granted', new.order_id, new.amount;
  end if;
  return new;
end
$$;

create trigger guard_refund_grant before insert on refund_grants
  for each row execute function guard_refund_grant();

-- What an order's money may become. By its name it runs after guard_order.
create function guard_order_money() returns trigger language plpgsql as $$
begin
  if old.settlement in ('FINAL', 'LOST') and new.settlement is distinct from old.settlement then
    raise exception 'order %: its payment is %, for good', old.id, old.settlement;
  end if;
  if new.doc #>> '{refund,step}' = 'SIGNED' then
    perform from refund_grants where order_id = new.id;
    if not found then
      raise exception 'order %: its refund was not granted', old.id;
    end if;
    if lower(new.doc #>> '{refund,signed,to}') is distinct from new.payer
      or (new.doc #>> '{refund,signed,amount,$bigint}')::numeric is distinct from new.amount then
      raise exception 'order %: a refund goes to the payer and is what was paid', old.id;
    end if;
    if new.doc #>> '{refund,signed,rail}' is distinct from new.doc #>> '{tender,rail}'
      or new.doc #> '{refund,signed,units}' is distinct from new.doc #> '{tender,units}' then
      raise exception 'order %: a refund goes the way that the payment came', old.id;
    end if;
  end if;
  return new;
end
$$;

create trigger guard_order_money before update on orders for each row
  when (new.version <> old.version) execute function guard_order_money();

-- Claims of buyers cost a row each, and one of a failed refund tries it again, so they have budgets. A claim is used
-- up once its order has moved on from the version that it met.
create table refund_claims (
  order_id text not null references orders (id),
  key text not null,
  body_hash text not null,
  created_at timestamptz not null,
  -- The client that sent it, as a keyed digest.
  client text,
  version integer not null default 0,
  primary key (order_id, key)
);

create index refund_claims_by_client on refund_claims (client, created_at) where client is not null;
create index refund_claims_by_age on refund_claims (created_at);

-- Stores a new claim if its order and its client have budget left. The claims of one order, and those of one client,
-- are stored one after the other.
create function keep_refund_claim(
  wanted text, of_version integer, of_key text, of_body text, of_client text, rules jsonb
) returns table (use text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
declare
  earlier refund_claims;
  lasts interval := (rules ->> 'windowMs')::numeric * interval '1 ms';
begin
  perform pg_advisory_xact_lock(hashtextextended('claims order ' || wanted, 0));
  if of_client is not null then
    perform pg_advisory_xact_lock(hashtextextended('claims client ' || of_client, 0));
  end if;
  select * into earlier from refund_claims where order_id = wanted and key = of_key;
  if found then
    return query select case when earlier.body_hash <> of_body then 'other_body'
      when earlier.version < of_version then 'used' else 'fresh' end, null::text, null::integer;
    return;
  end if;
  return query
    with counted as (
      select 'order' as whose, created_at from refund_claims
        where order_id = wanted and created_at > now() - lasts
      union all
      select 'client', created_at from refund_claims
        where client = of_client and created_at > now() - lasts
    ), sums as (
      select whose, array_agg(created_at order by created_at) as times,
        (rules -> 'most' -> whose ->> 'refund_claims')::int as most
      from counted group by whose
    )
    select 'spent', whose,
      greatest(1, ceil(extract(epoch from times[cardinality(times) - most + 1] + lasts - now())))::int
    from sums where cardinality(times) >= most
    order by 3 desc limit 1;
  if found then return; end if;
  insert into refund_claims (order_id, key, body_hash, created_at, client, version)
    values (wanted, of_key, of_body, now(), of_client, of_version);
  return query select 'fresh', null::text, null::integer;
end
$$;

-- An order that has ended and has moved no money in its life is one whose payment failed: every other end has entries
-- in the ledger. A payment that was seen and dropped fails as well, and leaves entries: such an order is kept. An
-- order that was never paid may be deleted a day after that was proven.
create function never_paid(wanted text) returns boolean language sql volatile as $$
  select exists (
    select from orders where id = wanted and finished_at < now() - interval '1 day'
      and not exists (select from ledger where order_id = wanted))
$$;

create function forget_never_paid(before timestamptz, most integer) returns integer
language plpgsql as $$
declare
  gone text[];
begin
  select array_agg(id) into gone from (
    select id from orders
    where state = 'PAYMENT_FAILED' and finished_at < least(before, now() - interval '1 day')
      and not exists (select from ledger where order_id = orders.id)
      and not exists (select from refund_claims where order_id = orders.id)
    order by finished_at limit most for update skip locked) as due;
  delete from idempotency_keys where order_id = any (gone);
  delete from order_events where order_id = any (gone);
  delete from payments where order_id = any (gone);
  delete from orders where id = any (gone);
  return coalesce(cardinality(gone), 0);
end
$$;

-- What was never paid may be deleted, and nothing else.
create function keep_what_was_paid() returns trigger language plpgsql as $$
declare
  its_order text := case when tg_table_name = 'orders' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'order_id' end;
begin
  if not never_paid(its_order) then
    raise exception '% keeps what was written: no delete', tg_table_name;
  end if;
  return old;
end
$$;

create trigger keep_orders before truncate on orders
  for each statement execute function refuse_change();
create trigger keep_paid_orders before delete on orders
  for each row execute function keep_what_was_paid();
create trigger keep_payments before update or truncate on payments
  for each statement execute function refuse_change();
create trigger keep_paid_payments before delete on payments
  for each row execute function keep_what_was_paid();
create trigger keep_order_events before update or truncate on order_events
  for each statement execute function refuse_change();
create trigger keep_paid_events before delete on order_events
  for each row execute function keep_what_was_paid();
create trigger keep_ledger before update or truncate on ledger
  for each statement execute function refuse_change();
create trigger keep_open_ledger before delete on ledger
  for each row execute function keep_what_was_paid();
create trigger keep_refund_grants before update or truncate on refund_grants
  for each statement execute function refuse_change();
create trigger keep_open_grants before delete on refund_grants
  for each row execute function keep_what_was_paid();

-- Claims and idempotency keys may be deleted one by one, and never all at once.
create trigger keep_refund_claims before truncate on refund_claims
  for each statement execute function refuse_change();
create trigger keep_idempotency_keys before truncate on idempotency_keys
  for each statement execute function refuse_change();

-- Transfers of the store's own wallets that no order explains, and that a person vouches for: a float that was
-- withdrawn, takings that arrived by a plain transfer. An acknowledgement is never taken back.
create table acknowledged_movements (
  transaction_hash text not null check (transaction_hash ~ '^0x[0-9a-f]{64}$'),
  -- Its place among all logs of its block.
  log_index integer not null check (log_index >= 0),
  from_address text not null check (from_address ~ '^0x[0-9a-f]{40}$'),
  to_address text not null check (to_address ~ '^0x[0-9a-f]{40}$'),
  amount numeric(78, 0) not null check (amount >= 0),
  reason text not null check (length(btrim(reason)) between 3 and 500),
  acknowledged_by text not null check (length(btrim(acknowledged_by)) between 2 and 100),
  acknowledged_at timestamptz not null,
  primary key (transaction_hash, log_index)
);

create trigger keep_acknowledged_movements before update or delete or truncate on acknowledged_movements
  for each statement execute function refuse_change();

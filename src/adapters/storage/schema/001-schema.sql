-- All tables, with the rules that hold whatever the code does: neither a defect nor a statement typed on a console can
-- deliver and refund an order, pay twice, or rewrite the history.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% keeps what was written: no %', tg_table_name, lower(tg_op);
end
$$;

-- ORDERS

-- What queries go by is in columns, the rest in doc. Each sealed field can be erased without touching the rest.
create table orders (
  id text primary key,
  payment_id text not null unique,
  version integer not null check (version >= 1),
  -- By which a writer recognises its version when the answer to the write was lost.
  write_id uuid not null,
  state text not null,
  refund_state text,
  -- The one decision: goods for the buyer, or the money back.
  outcome text,
  kind text not null,
  offer_id text not null,
  payer text not null check (payer = lower(payer)),
  amount numeric(39, 0) not null check (amount >= 1),
  transaction_hash text check (transaction_hash = lower(transaction_hash)),
  refund_transaction_hash text check (refund_transaction_hash = lower(refund_transaction_hash)),
  iccid_digest text,
  placed_at timestamptz not null,
  changed_at timestamptz not null,
  -- By the clock of the database, as are the leases: nodes need not agree on the time.
  finished_at timestamptz,
  due_at timestamptz,
  locked_until timestamptz not null,
  recipient text,
  delivery text,
  doc jsonb not null,
  -- How certain the payment is: seen in a block, in a block that stays, or dropped for good.
  settlement text,
  -- Passed with a new order to its checks, which do not let it be stored: the digests of its recipients, its budgets, and
  -- its twins and receivers under each key of the store. No twins if the buyer says that it is another purchase.
  checks jsonb constraint orders_keep_no_checks check (checks is null),
  -- Keyed digests: the client that asked for it, and its recipient with the offer. Erased with the personal fields.
  client text,
  receiver text,
  -- Keyed digest of payer, goods and recipient. Erased with the personal fields.
  twin text,

  constraint orders_state_known check (state in (
    'PAYMENT_PENDING', 'PAYMENT_FAILED', 'PAID', 'FULFILLING', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED')),
  constraint orders_refund_state_known check (refund_state in ('REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED')),
  constraint orders_outcome_known check (outcome in ('DELIVER', 'REFUND')),
  constraint orders_settlement_known check (settlement in ('SEEN', 'FINAL', 'LOST')),
  constraint orders_settled_when_paid
    check ((settlement is null) = (state in ('PAYMENT_PENDING', 'PAYMENT_FAILED'))),
  constraint orders_deliver_when_fulfilled
    check ((state = 'FULFILLED') = (outcome is not distinct from 'DELIVER')),
  constraint orders_refund_when_given_up
    check ((state in ('FULFILLMENT_FAILED', 'EXPIRED')) = (outcome is not distinct from 'REFUND')),
  constraint orders_goods_only_to_deliver check (delivery is null or outcome is not distinct from 'DELIVER'),
  constraint orders_refund_state_only_to_refund
    check ((refund_state is not null) = (outcome is not distinct from 'REFUND')),
  constraint orders_refunded_with_proof
    check ((refund_state is not distinct from 'REFUNDED') = (refund_transaction_hash is not null)),
  constraint orders_due_until_finished check ((due_at is null) = (finished_at is not null)),
  constraint orders_doc_agrees check (doc ->> 'state' is not distinct from state),
  constraint orders_method_known check (doc #>> '{payment,method}' in ('x402', 'btcpay')),
  constraint orders_receipt_of_its_method check (doc #>> '{receipt,method}' = doc #>> '{payment,method}'),
  constraint orders_block_of_a_receipt
    check (doc #>> '{receipt,method}' <> 'x402' or doc #> '{receipt,block}' is not null)
)
-- Each of its four writes leaves a dead row of some 2 kB, whose room is reused soon (docs/operators/scaling.md).
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);

-- A lease that ends after the due time was broken off, and the sweep takes those first.
create index orders_due on orders ((locked_until <= due_at), due_at) where due_at is not null;
create index orders_by_payer on orders (payer, placed_at desc, id desc);
create index orders_by_transaction on orders (transaction_hash) where transaction_hash is not null;
create index orders_by_iccid on orders (iccid_digest, payer) where iccid_digest is not null;
create index orders_by_refund on orders (refund_transaction_hash) where refund_transaction_hash is not null;
create index orders_refund on orders (refund_state, changed_at)
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED');
create index orders_to_erase on orders (finished_at) where recipient is not null;
create index orders_never_paid on orders (finished_at) where state = 'PAYMENT_FAILED';
-- The newest block that contains a payment on record: how much of the chain this record knows. Read at every start.
create index orders_by_block on orders (((doc #>> '{receipt,block}')::bigint))
  where transaction_hash is not null;

create index orders_owed on orders (amount)
  where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
    and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
    and doc #>> '{payment,method}' = 'x402';

create index orders_to_supply on orders (amount) where state in ('PAID', 'FULFILLING');
create index orders_without_funds on orders (changed_at)
  where doc #>> '{failure,code}' = 'INSUFFICIENT_FUNDS';
create index orders_supply_open on orders (amount) where doc #>> '{supply,state}' = 'OPEN';
create index orders_given_up on orders (changed_at) where outcome = 'REFUND';
create index orders_awaiting_payment on orders (amount) where state = 'PAYMENT_PENDING';

create index orders_by_twin on orders (twin, placed_at) where twin is not null;
create index orders_topped_up on orders (receiver, placed_at) where kind = 'topup' and receiver is not null;
create index orders_undelivered_by_payer on orders (payer, placed_at)
  where outcome is distinct from 'DELIVER';
create index orders_undelivered_by_client on orders (client, placed_at)
  where client is not null and outcome is distinct from 'DELIVER';
create index orders_undelivered_by_receiver on orders (receiver, placed_at)
  where receiver is not null and outcome is distinct from 'DELIVER';

-- One payment opens one order, for ever.
create table payments (
  payment_key text primary key,
  order_id text not null unique references orders (id) on delete cascade
);

-- Which request a payment came with, from before anybody outside saw it (docs/contributors/decisions/016).
create table payment_reservations (
  payment_key text primary key,
  request text not null,
  signed boolean not null,
  reserved_at timestamptz not null,
  -- When the requests came that may be about to open an order with this payment. Each removes its own entry.
  under_way timestamptz[] not null default '{}'
);

create index payment_reservations_age on payment_reservations (reserved_at);

-- The key is kept as its SHA-256.
create table idempotency_keys (
  payer text not null check (payer = lower(payer)),
  key text not null,
  order_id text not null references orders (id) on delete cascade,
  created_at timestamptz not null,
  -- A caller who shows only the key looks by the key alone.
  primary key (key, payer)
);

create index idempotency_keys_by_order on idempotency_keys (order_id);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- What happened to an order, one row for each of its versions. Nothing secret, nothing personal.
create table order_events (
  order_id text not null references orders (id) on delete cascade,
  seq integer not null,
  at timestamptz not null,
  state text not null,
  payout_state text,
  detail jsonb not null,
  primary key (order_id, seq)
);

-- A mail address as a keyed digest; the order of a checkout may not be there yet, or never.
create table order_mail (
  order_id text primary key,
  address_digest text not null,
  left_at timestamptz not null
);

create index order_mail_address on order_mail (address_digest);

-- The request that opened an order or a checkout, and the keyed digest of the recovery code: with the first event.
create index order_events_by_request on order_events ((detail ->> 'request')) where seq = 1;
create index order_events_by_recovery on order_events ((detail ->> 'recovery')) where seq = 1;

-- Who receives an order: keyed digests of e-mail addresses, phone numbers and ICCIDs, for the operator who is asked about
-- it. That of a checkout has them before it is there. Erased with the personal fields.
create table order_persons (
  order_id text not null,
  person text not null,
  at timestamptz not null default now()
);

create index order_persons_by_person on order_persons (person, at);
create index order_persons_by_order on order_persons (order_id);

-- When goods were shown and links to them sent, once an hour for each way: evidence, if a buyer says that nothing came.
create table order_showings (
  order_id text not null,
  what text not null check (what in ('goods_shown', 'link_sent')),
  -- Of goods: by what the caller proved to be the buyer. Of a link: who asked for it.
  how text not null,
  hour timestamptz not null,
  at timestamptz not null,
  primary key (order_id, what, how, hour)
);

-- What an order may become. One that was never paid may be deleted a day after that was proven, and no other.
create function guard_order() returns trigger language plpgsql as $$
declare
  unleased orders := new;
begin
  if tg_op = 'INSERT' then
    if new.state <> 'PAYMENT_PENDING' or new.outcome is not null then
      raise exception 'order %: it cannot begin as %', new.id, new.state;
    end if;
    if new.doc #>> '{payment,method}' = 'btcpay' then perform check_invoice(new); end if;
    return new;
  end if;
  if tg_op = 'DELETE' then
    if old.state <> 'PAYMENT_FAILED' or old.finished_at > now() - interval '1 day'
      or exists (select from ledger where order_id = old.id) then
      raise exception 'orders keeps what was written: no delete';
    end if;
    return old;
  end if;
  if new.version = old.version then
    unleased.due_at := old.due_at;
    unleased.locked_until := old.locked_until;
    if unleased is distinct from old then
      raise exception 'order %: only its lease may change without a new version', old.id;
    end if;
    return new;
  end if;
  if new.version <> old.version + 1 then
    raise exception 'order %: version % cannot follow %', old.id, new.version, old.version;
  end if;
  -- An authorization is completed after it was written down; an invoice was complete.
  if (new.id, new.payment_id, new.kind, new.offer_id, new.payer, new.amount, new.placed_at)
      is distinct from
      (old.id, old.payment_id, old.kind, old.offer_id, old.payer, old.amount, old.placed_at)
    or old.doc #>> '{payment,method}' = 'btcpay' and new.doc -> 'payment' is distinct from old.doc -> 'payment' then
    raise exception 'order %: what was bought and paid never changes', old.id;
  end if;
  if new.doc #> '{item,source}' is distinct from old.doc #> '{item,source}' then
    raise exception 'order %: where it is bought never changes', old.id;
  end if;
  if new.outcome is distinct from old.outcome and old.outcome is not null then
    raise exception 'order %: it was decided to %, for good', old.id, old.outcome;
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
    ('PAYMENT_PENDING', 'PAID'),
    ('PAYMENT_PENDING', 'PAYMENT_FAILED'),
    ('PAID', 'FULFILLING'),
    ('PAID', 'PAYMENT_PENDING'),
    ('FULFILLING', 'FULFILLED'),
    ('FULFILLING', 'FULFILLMENT_FAILED'),
    ('FULFILLING', 'EXPIRED')) then
    raise exception 'order %: % cannot follow %', old.id, new.state, old.state;
  end if;
  if old.doc ? 'acceptedAt' then perform check_accepted(old, new); end if;
  perform check_order_money(old, new);
  return new;
end
$$;

-- What a supplier has accepted is not asked for again, and not given up because the supplier is silent.
create function check_accepted(old orders, new orders) returns void language plpgsql as $$
begin
  if new.doc -> 'acceptedAt' is distinct from old.doc -> 'acceptedAt' then
    raise exception 'order %: the supplier has accepted it, for good', old.id;
  end if;
  if new.doc -> 'askedAgainAt' is distinct from old.doc -> 'askedAgainAt' then
    raise exception 'order %: the supplier has accepted it, and is not asked again', old.id;
  end if;
  if old.state = 'FULFILLING' and new.doc #>> '{failure,trigger}' = 'upstream_timeout' then
    raise exception 'order %: the supplier has accepted it, so its silence is no answer', old.id;
  end if;
end
$$;

create function check_order_money(old orders, new orders) returns void language plpgsql as $$
declare
  signed jsonb := new.doc #> '{payout,signed}';
begin
  if old.settlement in ('FINAL', 'LOST') and new.settlement is distinct from old.settlement then
    raise exception 'order %: its payment is %, for good', old.id, old.settlement;
  end if;
  if old.refund_state = 'REFUNDED' and new.refund_state is distinct from 'REFUNDED' then
    raise exception 'order %: it was refunded, for good', old.id;
  end if;
  if new.doc #>> '{payout,state}' is distinct from 'APPROVED' then return; end if;
  if not exists (select from payout_grants where reference = new.id) then
    raise exception 'order %: its refund was not granted', old.id;
  end if;
  if lower(signed ->> 'to') is distinct from new.payer
    or (signed #>> '{amount,$bigint}')::numeric is distinct from new.amount then
    raise exception 'order %: a refund goes to the payer and is what was paid', old.id;
  end if;
  if signed ->> 'method' is distinct from new.doc #>> '{payment,method}'
    or signed -> 'units' is distinct from new.doc #> '{payment,units}' then
    raise exception 'order %: a refund goes the way that the payment came', old.id;
  end if;
end
$$;

create trigger guard_order before insert or update or delete on orders
  for each row execute function guard_order();

-- How many orders have ended in each state, so that no count reads all orders. Each end adds a row, and rows are added
-- up now and then, so two orders wait for no common row. `gone` are no longer on record, so `came` never falls.
create table order_ends (
  state text not null check (state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED')),
  came bigint not null check (came >= 0),
  gone bigint not null check (gone >= 0)
);

create function count_order_end() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into order_ends values (old.state, 0, 1);
  else
    insert into order_ends values (new.state, 1, 0);
  end if;
  return null;
end
$$;

create trigger count_end_of_moved after update on orders for each row
  when (new.state <> old.state
    and new.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();
create trigger count_end_gone after delete on orders for each row
  when (old.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();

-- THE LEDGER OF ORDERS

-- Double entries in atomic USDC. What was received is positive, and where it is now is negative.
create table ledger (
  order_id text not null references orders (id),
  seq integer not null,
  account text not null check (account in ('received', 'open', 'delivered', 'refunded')),
  amount numeric(39, 0) not null check (amount <> 0),
  at timestamptz not null,
  primary key (order_id, seq, account)
);

create index ledger_refunded_by_time on ledger (at) include (order_id) where account = 'refunded';
create index ledger_delivered_by_time on ledger (at) include (order_id) where account = 'delivered';

create view order_balances as
  select id as order_id, account, sum from orders, lateral (values
    ('received', amount),
    (case when outcome = 'DELIVER' then 'delivered' when refund_state = 'REFUNDED' then 'refunded' else 'open' end,
      -amount)) as due (account, sum)
  where settlement in ('SEEN', 'FINAL');

-- PAYOUTS

-- The switch that stops all payouts. The newest turn is in force.
create table refund_switch (
  turn bigint generated by default as identity primary key,
  stopped boolean not null,
  reason text,
  changed_by text,
  changed_at timestamptz not null default clock_timestamp()
);
insert into refund_switch (turn, stopped) values (0, false);

-- Grants are made one after the other, and none while the switch turns, so a turn takes effect at once.
create function lock_payouts() returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('payouts', 0))
$$;

-- What may be paid out. References: {order}, {order}-goodwill, {checkout}-{number of the return}.
create table payout_grants (
  reference text primary key,
  kind text not null check (kind in ('refund', 'return', 'goodwill')),
  amount numeric(39, 0) not null check (amount >= 1),
  granted_at timestamptz not null default now()
);

create index payout_grants_by_time on payout_grants (kind, granted_at) include (amount, reference);

-- Grants what is due, in atomic USDC; a return at the rate of its invoice, rounded up. The caps count each kind by itself:
-- buyers who pay invoices late and too much all day hold up no refund of an order.
create function allow_payout(wanted text, hour_cap numeric, day_cap numeric) returns text language plpgsql as $$
declare
  owner text := split_part(wanted, '-', 1);
  part text := split_part(wanted, '-', 2);
  its_kind text := case part when '' then 'refund' when 'goodwill' then 'goodwill' else 'return' end;
  owed numeric;
  hour numeric;
  day numeric;
begin
  perform lock_payouts();
  if (select stopped from refund_switch order by turn desc limit 1) then return 'stopped'; end if;
  if exists (select from payout_grants where reference = wanted) then return 'granted'; end if;
  owed := case its_kind
    when 'refund' then
      (select amount from orders where id = owner and outcome = 'REFUND' and settlement = 'FINAL')
    when 'goodwill' then
      (select amount from goodwill where id = owner and doc #>> '{payout,state}' = 'DUE')
    else
      (select div(one.units * amount + invoice_units - 1, invoice_units)
        from checkouts, checkout_returns(doc) as one
        where id = owner and one.seq::text = part and one.state = 'DUE')
  end;
  if owed is null then raise exception 'payout %: nothing is due', wanted; end if;
  if owed > least(hour_cap, day_cap) then return 'over_cap'; end if;
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0),
      coalesce(sum(amount), 0)
    into hour, day from payout_grants where kind = its_kind and granted_at > now() - interval '1 day';
  if hour + owed > hour_cap then return 'hour_cap'; end if;
  if day + owed > day_cap then return 'day_cap'; end if;
  insert into payout_grants values (wanted, its_kind, owed);
  return 'granted';
end
$$;

-- Claims of buyers have budgets. A claim is used up once its order has moved on from the version that it met.
create table refund_claims (
  order_id text not null references orders (id),
  key text not null,
  body_hash text not null,
  created_at timestamptz not null,
  client text,
  version integer not null default 0,
  primary key (order_id, key)
);

create index refund_claims_by_client on refund_claims (client, created_at) where client is not null;
create index refund_claims_by_age on refund_claims (created_at);

-- The claims of one order, and those of one client, are stored one after the other.
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

-- Transfers of the store's own wallets that no order explains, and that a person vouches for.
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

-- LIMITS: those that a wallet has set itself, approvals of persons, budgets of those who do not pay or whose orders
-- fail, and shares of the float

-- Rules in force, and looser ones that come later. A recipient is a keyed digest.
create table wallet_limits (
  wallet text primary key check (wallet = lower(wallet)),
  -- Identifies the write that made these limits. A write that does not name the last one is refused.
  revision uuid not null,
  in_force jsonb not null check (jsonb_typeof(in_force) = 'object'),
  coming jsonb check (jsonb_typeof(coming) = 'object'),
  coming_from timestamptz,
  constraint wallet_limits_coming_at_a_time check ((coming is null) = (coming_from is null))
);

create index wallet_limits_lifted on wallet_limits (coming_from) where coming = '{}';

-- What persons are asked to approve (docs/contributors/decisions/020). Each is used by one order.
create table approvals (
  id uuid primary key,
  -- SHA-256 of the token that opens its page.
  token_hash text not null unique,
  payer text not null check (payer = lower(payer)),
  purchase text not null,
  amount numeric not null,
  most numeric not null check (most >= amount),
  bought text not null,
  asked_at timestamptz not null,
  decision text check (decision in ('APPROVED', 'DECLINED')),
  ends_at timestamptz not null,
  used_by text,
  constraint approvals_used_when_approved
    check (used_by is null or decision is not distinct from 'APPROVED')
);

create index approvals_by_purchase on approvals (payer, purchase);
create index approvals_by_order on approvals (used_by) where used_by is not null;
create index approvals_by_end on approvals (ends_at);

-- A payer who signs much and pays nothing leaves no more than ten open. One that is too many is not
-- inserted. Two requests wait for each other here, so each counts what the other one has added.
create function limit_approvals() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('approvals ' || new.payer, 0));
  if (select count(*) from approvals
      where payer = new.payer and decision is null and ends_at > new.asked_at) >= 10 then
    return null;
  end if;
  return new;
end
$$;

create trigger limit_approvals before insert on approvals
  for each row execute function limit_approvals();

-- No order is opened beyond the limits of its payer. The row of the wallet is locked before the sum is read, so two
-- purchases of one wallet are checked one after the other. Where there is no row yet, a lock on its name keeps the first
-- limits waiting for the purchases that could not know of them. The day is the last 24 hours by the clock that placed
-- the order. What costs more than the wallet allows alone needs an approval that was used for this very order.
create function wallet_limits_lock(wallet text) returns bigint language sql immutable as $$
  select hashtextextended('wallet_limits ' || wallet, 0)
$$;

create function check_wallet_limits() returns trigger language plpgsql as $$
declare
  recipients text[] := string_to_array(new.checks ->> 'recipients', E'\n');
  held wallet_limits;
  rules jsonb;
  spent numeric;
  hit text;
begin
  new.checks := null;
  -- What a rebuilt record opens again was allowed, and paid, when it was placed.
  if current_setting('kiosk402.rebuilding', true) = 'on' then return new; end if;
  perform pg_advisory_xact_lock_shared(wallet_limits_lock(new.payer));
  select * into held from wallet_limits where wallet = new.payer for update;
  if found then
    rules := case when held.coming_from <= new.placed_at then held.coming else held.in_force end;
    hit := case
      when rules ? 'kinds' and not rules -> 'kinds' ? new.kind then 'kinds'
      when rules ? 'countries'
        and not coalesce(rules -> 'countries' ? (new.doc #>> '{item,country}'), false)
        then 'countries'
      when rules ? 'recipients'
        and not coalesce(rules -> 'recipients' ?& recipients, false)
        then 'recipients'
      when new.amount > (rules #>> '{perOrder,$bigint}')::numeric then 'per_order'
    end;
    if hit is null and rules ? 'perDay' then
      select coalesce(sum(amount), 0) into spent from orders
        where payer = new.payer and placed_at > new.placed_at - interval '24 hours'
          and state <> 'PAYMENT_FAILED' and refund_state is distinct from 'REFUNDED'
          and settlement is distinct from 'LOST';
      if spent + new.amount > (rules #>> '{perDay,$bigint}')::numeric then hit := 'per_day'; end if;
    end if;
    if hit is null and new.amount > (rules #>> '{approveAbove,$bigint}')::numeric
      and not exists (select from approvals
        where used_by = new.id and payer = new.payer and most >= new.amount)
      then hit := 'approve_above';
    end if;
    if hit is not null then
      raise exception 'order %: the limits of its payer do not allow it', new.id
        using errcode = 'KS001', detail = hit;
    end if;
  end if;
  return new;
end
$$;

create trigger check_wallet_limits before insert on orders
  for each row execute function check_wallet_limits();

-- Budgets are counted from the orders themselves: those without payment, failed ones and reverted transactions within the
-- window, by when the order was placed. Answers with the budget that is exhausted for longest, and the seconds until it
-- is not. A payment that is still open may end at any moment.
create function spent_budget(rules jsonb, of_payer text, of_client text, of_receiver text, at timestamptz)
returns table (budget text, whose text, wait_seconds integer) language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  with theirs as (
    select 'payer' as whose, o.placed_at, o.state = 'PAYMENT_PENDING' as is_open, o.outcome, o.state, o.doc
      from orders o where o.payer = of_payer and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
    union all
    select 'client', o.placed_at, o.state = 'PAYMENT_PENDING', o.outcome, o.state, o.doc
      from orders o where o.client = of_client and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
    union all
    select 'receiver', o.placed_at, false, o.outcome, o.state, o.doc
      from orders o where o.receiver = of_receiver and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
  ), counted as (
    select whose, placed_at, is_open,
      case when outcome = 'REFUND' then 'failed_orders' else 'unpaid_payments' end as budget
    from theirs where outcome = 'REFUND' or state in ('PAYMENT_PENDING', 'PAYMENT_FAILED')
    union all
    select whose, placed_at, false, 'reverts'
    from theirs, generate_series(1, (doc ->> 'reverts')::int)
  ), sums as (
    select counted.budget, counted.whose, count(*)::int as orders, bool_or(is_open) as is_open,
      array_agg(placed_at order by placed_at) as times
    from counted group by counted.budget, counted.whose
  ), limited as (
    select sums.*, (rules -> 'most' -> sums.whose ->> sums.budget)::int as most from sums
  )
  select limited.budget, limited.whose, case when limited.is_open then 5 else greatest(1, ceil(extract(epoch from
      times[orders - most + 1] + (rules ->> 'windowMs')::numeric * interval '1 ms' - at)))::int end
  from limited where orders >= most
  order by 3 desc limit 1;
end
$$;

-- Failing orders cost their buyer nothing. At risk is what is open in USDC or was refunded within an hour. Answers whose
-- share of the float this purchase exceeds. The whole is the float with what was refunded from it within the
-- hour, so that nobody's share shrinks by refunds. The first half of it is for all orders. Up to five eighths, the one
-- order that was refunded to a payer may be tried again. The rest is for payers and clients with little at risk: a
-- sixteenth of the whole while the others leave a quarter of it free, and then an eighth of what they leave free.
create function exceeded_share(held numeric, of_payer text, of_client text, asked numeric)
returns table (budget text, whose text, wait_seconds integer) language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  with risks as materialized (
    select payer, client, amount, null::timestamptz as paid_back_at from orders
      where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
        and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
        and doc #>> '{payment,method}' = 'x402'
    union all
    select payer, client, amount, null from orders
      where state = 'PAYMENT_PENDING' and doc #>> '{payment,method}' = 'x402'
    union all
    select payer, client, o.amount, booked.at from ledger booked join orders o on o.id = booked.order_id
      where booked.account = 'refunded' and booked.at > now() - interval '1 hour'
        and o.refund_state = 'REFUNDED' and o.settlement is distinct from 'LOST'
        and o.doc #>> '{payment,method}' = 'x402'
  ), store as (
    select coalesce(sum(amount), 0) as risked,
      held + coalesce(sum(amount) filter (where paid_back_at is not null), 0) as whole,
      case when bool_or(paid_back_at is null) then 60 else greatest(1,
        ceil(extract(epoch from min(paid_back_at) + interval '1 hour' - now())))::int end as wait_seconds
    from risks
  ), own as (
    select 'payer' as whose, coalesce(sum(amount), 0) as risked,
      count(*) = 1 and bool_and(paid_back_at is not null and amount >= asked) as is_retry
    from risks where payer = of_payer
    union all
    select 'client', coalesce(sum(amount), 0), false
    from risks where client = of_client having of_client is not null
  ), others as (
    select own.*, store.whole, store.wait_seconds, store.whole - store.risked + own.risked as free
    from own, store
    where (store.risked + asked) * 2 > store.whole
      and not ((store.risked + asked) * 8 <= store.whole * 5 and (select bool_or(is_retry) from own))
  )
  select 'exposure', whose, wait_seconds from others
  where risked + asked > case when free * 4 >= whole then whole / 16 else free / 8 end
  order by whose desc limit 1;
end
$$;

-- The orders of a payer, and those of a client, are opened one after the other. By its name it runs before the limits.
create function check_budgets() returns trigger language plpgsql as $$
declare
  budgets jsonb := new.checks -> 'budgets';
  spent record;
  is_spent boolean := false;
begin
  if budgets ? 'float' then
    perform pg_advisory_xact_lock(hashtextextended('shares of the float', 0));
    select * into spent
      from exceeded_share((budgets ->> 'float')::numeric, new.payer, new.client, new.amount);
    is_spent := found;
  end if;
  if not is_spent then
    perform pg_advisory_xact_lock(hashtextextended('budgets payer ' || new.payer, 0));
    if new.client is not null then
      perform pg_advisory_xact_lock(hashtextextended('budgets client ' || new.client, 0));
    end if;
    select * into spent
      from spent_budget(budgets, new.payer, new.client, new.receiver, new.placed_at);
    is_spent := found;
  end if;
  if is_spent then
    raise exception 'order %: a budget is spent', new.id
      using errcode = 'KS002', detail = to_jsonb(spent)::text;
  end if;
  return new;
end
$$;

create trigger check_budgets before insert on orders for each row
  when (new.checks ? 'budgets') execute function check_budgets();

-- A carrier refuses a line that was topped up within two minutes, whoever paid. What failed does not count.
create function just_received(of_receivers text[], at timestamptz) returns setof orders language sql stable as $$
  select * from orders
  where kind = 'topup' and receiver = any (of_receivers) and placed_at > at - interval '2 minutes'
    and outcome is distinct from 'REFUND' and state <> 'PAYMENT_FAILED' and settlement is distinct from 'LOST'
$$;

-- Who buys the same again within ten minutes may have lost the first answer. The purchases of a payer are compared one
-- after the other, and those for a receiver, so that of two at once one finds the other. Of other payers' orders nothing
-- is told. By its name it runs between the budgets and the limits.
create function check_twins() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  twins text[] := array(select jsonb_array_elements_text(new.checks -> 'twins'));
  receivers text[] := array(select jsonb_array_elements_text(new.checks -> 'receivers'));
  earlier text;
begin
  perform pg_advisory_xact_lock(hashtextextended('twins ' || new.payer, 0));
  if receivers <> '{}' then
    perform pg_advisory_xact_lock(hashtextextended('receiver ' || receivers[1], 0));
  end if;
  select string_agg(case when payer = new.payer then id else '' end, ' ' order by placed_at desc) into earlier from (
    select id, payer, placed_at from orders
    where twin = any (twins) and placed_at > new.placed_at - interval '10 minutes'
      and outcome is distinct from 'REFUND' and state <> 'PAYMENT_FAILED'
      and settlement is distinct from 'LOST'
    union
    select id, payer, placed_at from just_received(receivers, new.placed_at)
    order by placed_at desc limit 20) as recent;
  if earlier is not null then
    raise exception 'order %: it may be the same purchase as %', new.id, earlier
      using errcode = 'KS004', detail = earlier;
  end if;
  return new;
end
$$;

create trigger check_twins before insert on orders for each row
  when (new.twin is not null) execute function check_twins();

-- CHECKOUTS

-- A checkout is one row, as an order is. Amounts of a coin are in its smallest unit.
create table checkouts (
  id text primary key,
  order_id text not null unique,
  version integer not null check (version >= 1),
  write_id uuid not null,
  state text not null,
  form_key text not null,
  kind text not null,
  offer_id text not null,
  coin text not null,
  amount numeric(39, 0) not null check (amount >= 1),
  recipient text,
  refund_to text,
  -- From here to the transactions: the database takes them from doc itself.
  invoice_id text unique,
  invoice_units numeric(39, 0) check (invoice_units >= 1),
  settled numeric(39, 0) not null default 0 check (settled >= 0),
  price numeric(39, 0),
  -- Of all returns, whatever their state; and of those that were sent.
  returning_units numeric(39, 0) not null default 0,
  returned numeric(39, 0) not null default 0,
  is_placed boolean,
  -- FAILED if one of the returns is, DUE if one is on its way, otherwise null.
  return_state text check (return_state in ('DUE', 'FAILED')),
  transactions text[] not null default '{}',
  addresses text[] not null default '{}',
  started_at timestamptz not null,
  changed_at timestamptz not null,
  finished_at timestamptz,
  due_at timestamptz,
  locked_until timestamptz not null,
  doc jsonb not null,
  -- The first one. Set with the invoice and cleared when the checkout is closed.
  held_address text,
  -- The client that began it, as a keyed digest. Erased when the checkout is paid or closed.
  client text,
  -- Passed with a new checkout to the check of unpaid ones, which does not let it be stored.
  unpaid jsonb constraint checkouts_keep_no_bound check (unpaid is null),

  constraint checkouts_state_known check (state in ('OPENING', 'REFUSED', 'OPEN', 'ORDERED', 'ENDED')),
  constraint checkouts_doc_agrees check (doc ->> 'state' is not distinct from state),
  constraint checkouts_due_until_finished check ((due_at is null) = (finished_at is not null)),
  constraint checkouts_invoiced
    check ((invoice_id is null) = (state in ('OPENING', 'REFUSED'))
      and (invoice_units is null) = (invoice_id is null)),
  constraint checkouts_price_of_an_order
    check ((price is not null) = (state = 'ORDERED') and (is_placed is null) = (price is null))
)
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);

-- The same form sent twice is one checkout, unless nobody could have paid the first one.
create unique index checkouts_form_key on checkouts (form_key) where state <> 'REFUSED';
create index checkouts_due on checkouts ((locked_until <= due_at), due_at) where due_at is not null;
create index checkouts_by_transaction on checkouts using gin (transactions);
create index checkouts_by_address on checkouts using gin (addresses);
create index checkouts_returns on checkouts (return_state) where return_state is not null;
create index checkouts_to_erase on checkouts (finished_at) where recipient is not null;
create index checkouts_by_client on checkouts (client, coin) where client is not null;
create index checkouts_by_refund_to on checkouts (lower(refund_to)) where refund_to is not null;

create index checkouts_never_paid on checkouts (finished_at) where state in ('REFUSED', 'ENDED') and settled = 0;

-- A late payment is still that buyer's. Some plugins hand addresses out again, as may a restored processor.
create unique index checkouts_held_address on checkouts (coin, held_address) where held_address is not null;

create table checkout_events (
  checkout_id text not null references checkouts (id) on delete cascade,
  seq integer not null,
  at timestamptz not null,
  state text not null,
  detail jsonb not null,
  primary key (checkout_id, seq)
);

create index checkout_events_by_request on checkout_events ((detail ->> 'request')) where seq = 1;

create table checkout_ledger (
  checkout_id text not null references checkouts (id),
  seq integer not null,
  account text not null check (account in ('received', 'price', 'due', 'returned', 'kept')),
  units numeric(39, 0) not null check (units <> 0),
  at timestamptz not null,
  primary key (checkout_id, seq, account)
);

-- Payouts that an operator made because the processor sends none. One reference is paid once.
create table hand_payouts (
  reference text primary key,
  coin text not null,
  units numeric(39, 0) not null check (units >= 1),
  address text not null,
  transaction_hash text not null check (transaction_hash = lower(transaction_hash)),
  noted_by text not null,
  noted_at timestamptz not null,
  -- One transaction may pay several buyers, and one buyer several times. Each of its transfers pays once.
  transfer smallint not null default 1 check (transfer >= 1),
  unique (transaction_hash, address, units, transfer)
);

-- What the processor was seen to have of each payout. One that was restored from a backup may have sent it.
create table processor_payouts (
  reference text primary key,
  -- The processor's own ids. The pull payment is chosen once, before anything is claimed from it: a second one would
  -- pay a second time. What was seen of payouts once stays.
  pull_payment text,
  payouts text[] not null default '{}',
  -- Since when the processor has it without finishing it, and when an operator was told so.
  waits_since timestamptz,
  told_at timestamptz
);

create index processor_payouts_late on processor_payouts (told_at) where told_at is not null;

create function checkout_returns(doc jsonb)
returns table (seq integer, units numeric, why text, state text, transaction text)
language sql immutable as $$
  select (one ->> 'seq')::integer, (one #>> '{units,$bigint}')::numeric, one ->> 'why',
    one #>> '{payout,state}', one #>> '{payout,transaction}'
  from jsonb_array_elements(coalesce(doc -> 'returns', '[]')) as one
$$;

-- What the rules go by is read from the document itself. Nothing is owed for a return whose payment vanished.
create function read_checkout(one checkouts) returns checkouts language plpgsql as $$
begin
  one.invoice_id := one.doc #>> '{invoice,id}';
  one.invoice_units := (one.doc #>> '{invoice,units,$bigint}')::numeric;
  one.price := (one.doc #>> '{price,$bigint}')::numeric;
  one.is_placed := (one.doc ->> 'isPlaced')::boolean;
  select coalesce(sum((paid #>> '{units,$bigint}')::numeric)
      filter (where paid ->> 'status' = 'SETTLED'), 0)
    into one.settled
    from jsonb_array_elements(coalesce(one.doc #> '{invoice,payments}', '[]')) as paid;
  select coalesce(array_agg(distinct lower(transaction)), '{}') into one.transactions from (
    select paid ->> 'transaction' as transaction
      from jsonb_array_elements(coalesce(one.doc #> '{invoice,payments}', '[]')) as paid
    union all select transaction from checkout_returns(one.doc) where transaction is not null) as either_way;
  select coalesce(array_agg(lower(shown)), '{}') into one.addresses
    from jsonb_array_elements_text(coalesce(one.doc #> '{invoice,addresses}', '[]')) as shown;
  select coalesce(sum((back #>> '{units,$bigint}')::numeric), 0),
    coalesce(sum((back #>> '{units,$bigint}')::numeric)
      filter (where back #>> '{payout,state}' = 'CONFIRMED'), 0),
    case when bool_or(back #>> '{payout,state}' = 'FAILED') then 'FAILED'
      when bool_or(back #>> '{payout,state}' <> 'CONFIRMED') then 'DUE' end
    into one.returning_units, one.returned, one.return_state
    from jsonb_array_elements(coalesce(one.doc -> 'returns', '[]')) as back
    where back #>> '{payout,code}' is distinct from 'payment_vanished';
  return one;
end
$$;

create function check_checkout_sums(one checkouts) returns void language plpgsql as $$
begin
  if one.state = 'OPEN' and exists (select from checkout_returns(one.doc)) then
    raise exception 'checkout %: nothing goes back before it is decided whose the price is', one.id;
  end if;
  if exists (
    select from (select seq, row_number() over () as place, units from checkout_returns(one.doc)) r
    where seq is distinct from place or units is null or units < 1) then
    raise exception 'checkout %: its returns count from 1, and each is of something', one.id;
  end if;
  if one.price not between 1 and one.invoice_units then
    raise exception 'checkout %: its price is not that of its invoice', one.id;
  end if;
  if one.price > one.settled then
    raise exception 'checkout %: its price is more than came', one.id;
  end if;
  if one.returning_units > one.settled - coalesce(one.price, 0) then
    raise exception 'checkout %: more goes back than came', one.id;
  end if;
  if one.finished_at is null or one.state = 'REFUSED' then return; end if;
  if one.invoice_id is null or one.state = 'OPEN' then
    raise exception 'checkout %: nothing is decided yet', one.id;
  end if;
  if not one.is_placed then
    raise exception 'checkout %: its order was not placed', one.id;
  end if;
  if one.return_state is not null then
    raise exception 'checkout %: something still goes back', one.id;
  end if;
  -- Half a USDC at the rate of the invoice.
  if (one.settled - coalesce(one.price, 0) - one.returned) * one.amount > 500000 * one.invoice_units
  then
    raise exception 'checkout %: more than dust would be kept', one.id;
  end if;
end
$$;

create function check_checkout_move(old checkouts, new checkouts) returns void
language plpgsql as $$
declare
  wrong integer;
begin
  if new.version <> old.version + 1 then
    raise exception 'checkout %: version % cannot follow %', old.id, new.version, old.version;
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
    ('OPENING', 'OPEN'),
    ('OPENING', 'REFUSED'),
    ('OPEN', 'ORDERED'),
    ('OPEN', 'ENDED')) then
    raise exception 'checkout %: % cannot follow %', old.id, new.state, old.state;
  end if;
  if (new.id, new.order_id, new.form_key, new.kind, new.offer_id, new.coin, new.amount,
      new.started_at) is distinct from
    (old.id, old.order_id, old.form_key, old.kind, old.offer_id, old.coin, old.amount,
      old.started_at)
    or new.recipient <> old.recipient or new.recipient is not null and old.recipient is null
    or new.refund_to <> old.refund_to or new.refund_to is not null and old.refund_to is null then
    raise exception 'checkout %: what was wanted never changes', old.id;
  end if;
  if old.invoice_id is not null and
    (new.invoice_id, new.invoice_units) is distinct from (old.invoice_id, old.invoice_units) then
    raise exception 'checkout %: its invoice never changes', old.id;
  end if;
  if old.price is not null and new.price is distinct from old.price then
    raise exception 'checkout %: its price was decided, for good', old.id;
  end if;
  if old.is_placed and not new.is_placed then
    raise exception 'checkout %: its order was placed, for good', old.id;
  end if;
  select was.seq into wrong from checkout_returns(old.doc) as was
    left join checkout_returns(new.doc) as now on now.seq = was.seq
    where now.seq is null or (now.units, now.why) is distinct from (was.units, was.why)
      or was.state = 'CONFIRMED' and now.transaction is distinct from was.transaction
      or now.state <> was.state and (was.state, now.state) not in (
        ('DUE', 'APPROVED'),
        ('DUE', 'FAILED'),
        ('APPROVED', 'CONFIRMED'),
        ('APPROVED', 'FAILED'),
        ('FAILED', 'DUE'))
    limit 1;
  if found then
    raise exception 'checkout %: return % cannot become this one', old.id, wrong;
  end if;
end
$$;

-- A client that begins checkouts and pays none takes addresses from everybody else. A refused checkout has had the
-- processor make invoices in vain, so it counts for an hour. The same form sent again runs into its index.
create function check_unpaid_checkouts(new checkouts) returns void language plpgsql as $$
declare
  waiting integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('unpaid checkouts ' || new.client, 0));
  select count(*) into waiting from checkouts
    where client = new.client and coin = new.coin and (new.unpaid -> 'states' ? state
        or state = 'REFUSED' and finished_at > now() - interval '1 hour')
      and coalesce(doc #>> '{invoice,status}', 'NEW') not in ('PROCESSING', 'SETTLED');
  if waiting >= (new.unpaid ->> 'most')::integer and not exists (
    select from checkouts
    where id = new.id or form_key = new.form_key and state <> 'REFUSED') then
    raise exception 'checkout %: % unpaid ones are open', new.id, waiting
      using errcode = 'KS003', detail = waiting::text;
  end if;
end
$$;

-- 90 days after an unpaid checkout was closed, the processor has long stopped watching its address.
create function guard_checkout() returns trigger language plpgsql as $$
declare
  unleased checkouts := new;
  ungranted integer;
begin
  if tg_op = 'DELETE' then
    if old.state in ('REFUSED', 'ENDED') and old.finished_at < now() - interval '90 days'
      and old.transactions = '{}' then return old; end if;
    raise exception 'checkouts keeps what was written: no delete';
  end if;
  if tg_op = 'UPDATE' and new.version = old.version then
    unleased.due_at := old.due_at;
    unleased.locked_until := old.locked_until;
    if unleased is distinct from old then
      raise exception 'checkout %: only its lease may change without a new version', old.id;
    end if;
    return new;
  end if;
  new := read_checkout(new);
  new.held_address := null;
  if tg_op = 'INSERT' then
    if new.state <> 'OPENING' then
      raise exception 'checkout %: it begins as OPENING', new.id;
    end if;
    if new.unpaid is not null then perform check_unpaid_checkouts(new); end if;
    new.unpaid := null;
  else
    -- Of what is over only the personal fields go, in a version of their own.
    if old.finished_at is not null
      and not (new.doc = old.doc and new.recipient is null and old.recipient is not null) then
      raise exception 'checkout %: it is closed, for good', old.id;
    end if;
    perform check_checkout_move(old, new);
    if new.finished_at is null then
      new.held_address := case when old.invoice_id is null
        then lower(new.doc #>> '{invoice,address}') else old.held_address end;
    end if;
    if new.state = 'ORDERED' or new.finished_at is not null and new.state <> 'REFUSED' then
      new.client := null;
    end if;
  end if;
  perform check_checkout_sums(new);
  select seq into ungranted from checkout_returns(new.doc) as one
    where one.state in ('APPROVED', 'CONFIRMED')
      and not exists (select from payout_grants where reference = new.id || '-' || seq)
    limit 1;
  if found then
    raise exception 'checkout %: return % was not granted', new.id, ungranted;
  end if;
  if new.is_placed and not exists (select from orders where id = new.order_id) then
    raise exception 'checkout %: its order is not on record', new.id;
  end if;
  return new;
end
$$;

create trigger guard_checkout before insert or update or delete on checkouts
  for each row execute function guard_checkout();

-- An invoice pays the one order that its checkout has decided on. The payer is the coin and the refund address.
create function check_invoice(new orders) returns void language plpgsql as $$
declare
  paid checkouts;
begin
  select * into paid from checkouts
    where order_id = new.id and state = 'ORDERED' and id = new.doc #>> '{payment,nonce}';
  if paid.id is null then
    raise exception 'order %: no checkout has decided that its invoice pays it', new.id;
  end if;
  if (new.amount, new.kind, new.offer_id, new.payer)
      is distinct from
      (paid.amount, paid.kind, paid.offer_id, lower(paid.coin || ':' || paid.refund_to))
    or (new.doc #>> '{payment,amount,$bigint}')::numeric is distinct from paid.amount
    or (new.doc #>> '{payment,units,$bigint}')::numeric is distinct from paid.price
    or (new.doc #>> '{payment,invoice}', new.doc #>> '{payment,asset}')
      is distinct from (paid.invoice_id, paid.coin) then
    raise exception 'order %: it is not the order that its checkout decided on', new.id;
  end if;
end
$$;

create view checkout_balances as
  select id as checkout_id, account, sum from checkouts, lateral (values
    ('received', settled),
    ('price', -coalesce(price, 0)),
    ('returned', -returned),
    (case when finished_at is null then 'due' else 'kept' end, returned + coalesce(price, 0) - settled))
    as due (account, sum)
  where sum <> 0;

-- At every commit the entries of an order or a checkout say what its state says, and sum to zero.
create function check_books() returns trigger language plpgsql as $$
declare
  checked text := to_jsonb(new) ->> tg_argv[0];
  booked jsonb;
  due jsonb;
begin
  select coalesce(jsonb_object_agg(account, sum), '{}') into due from (
    select account, sum from order_balances where order_id = checked
    union all select account, sum from checkout_balances where checkout_id = checked) as balances;
  select coalesce(jsonb_object_agg(account, sum), '{}') into booked from (
    select account, sum(amount) from ledger where order_id = checked
    group by account having sum(amount) <> 0
    union all select account, sum(units) from checkout_ledger where checkout_id = checked
    group by account having sum(units) <> 0) as sums;
  if booked <> due then
    raise exception '%: its ledger says %, and its state says %', checked, booked, due;
  end if;
  return null;
end
$$;

create constraint trigger check_books_of_moved after update on orders
  deferrable initially deferred for each row
  when (new.version <> old.version) execute function check_books('id');
create constraint trigger check_books_of_entry after insert on ledger
  deferrable initially deferred for each row execute function check_books('order_id');
create constraint trigger check_books_of_checkout after update on checkouts
  deferrable initially deferred for each row
  when (new.version <> old.version) execute function check_books('id');
create constraint trigger check_books_of_checkout_entry after insert on checkout_ledger
  deferrable initially deferred for each row execute function check_books('checkout_id');

-- GOODWILL

-- Money that an operator gives the buyer of goods that were delivered, from the float of the store.
create table goodwill (
  -- The order that it is for. Each has one at most, whose transfer the token makes once.
  id text primary key,
  version integer not null check (version >= 1),
  write_id uuid not null,
  payer text not null check (payer = lower(payer)),
  amount numeric(39, 0) not null check (amount >= 1),
  reason text not null check (length(btrim(reason)) between 3 and 500),
  given_by text not null check (given_by <> ''),
  given_at timestamptz not null,
  changed_at timestamptz not null,
  due_at timestamptz,
  locked_until timestamptz not null,
  doc jsonb not null,

  constraint goodwill_state_known
    check (doc #>> '{payout,state}' in ('DUE', 'APPROVED', 'CONFIRMED', 'FAILED')),
  constraint goodwill_due_until_finished
    check ((due_at is null) = (doc #>> '{payout,state}' in ('CONFIRMED', 'FAILED')))
);

create index goodwill_due on goodwill (due_at) where due_at is not null;
create index goodwill_by_payer on goodwill (payer);

-- It is for an order that was delivered and is paid for good, goes to who paid it, and is at most the price.
create function guard_goodwill() returns trigger language plpgsql as $$
declare
  before text := case when tg_op = 'UPDATE' then old.doc #>> '{payout,state}' end;
  after text := new.doc #>> '{payout,state}';
  signed jsonb := new.doc #> '{payout,signed}';
begin
  if tg_op = 'INSERT' then
    perform from orders where id = new.id and outcome = 'DELIVER' and settlement = 'FINAL'
      and payer = new.payer and amount >= new.amount;
    if not found then
      raise exception 'order %: goodwill of % cannot be given to %', new.id, new.amount, new.payer;
    end if;
    if new.version <> 1 or after <> 'DUE' then
      raise exception 'order %: goodwill begins as due', new.id;
    end if;
    return new;
  end if;
  if (new.id, new.payer, new.amount, new.reason, new.given_by, new.given_at)
      is distinct from (old.id, old.payer, old.amount, old.reason, old.given_by, old.given_at) then
    raise exception 'order %: goodwill that was given never changes', old.id;
  end if;
  if new.version <> old.version + (new.doc is distinct from old.doc)::integer then
    raise exception 'order %: every change of its goodwill is a version', old.id;
  end if;
  if after <> before and (before, after) not in (('DUE', 'APPROVED'), ('DUE', 'FAILED'), ('APPROVED', 'DUE'),
      ('APPROVED', 'CONFIRMED'), ('APPROVED', 'FAILED'), ('FAILED', 'DUE'))
    or before = 'CONFIRMED' and new.doc is distinct from old.doc then
    raise exception 'order %: its goodwill cannot go from % to %', old.id, before, after;
  end if;
  if after in ('APPROVED', 'CONFIRMED')
    and not exists (select from payout_grants where reference = new.id || '-goodwill') then
    raise exception 'order %: its goodwill was not granted', old.id;
  end if;
  if signed is not null and (lower(signed ->> 'to') is distinct from new.payer
      or (signed #>> '{amount,$bigint}')::numeric is distinct from new.amount
      or not exists (select from orders where id = new.id and doc #>> '{payment,method}' = signed ->> 'method'
        and coalesce((signed #>> '{units,$bigint}')::numeric * amount
          <= (doc #>> '{payment,units,$bigint}')::numeric * new.amount, signed ->> 'method' = 'x402'))) then
    raise exception 'order %: its goodwill goes to the payer and is what was given', old.id;
  end if;
  return new;
end
$$;

create trigger guard_goodwill before insert or update on goodwill
  for each row execute function guard_goodwill();

-- WEBHOOKS OF BUYERS

-- Events are kept by the write that causes them, until they are delivered (docs/contributors/decisions/019).
create table order_webhooks (
  order_id text primary key references orders (id) on delete cascade,
  payer text not null,
  receiver text not null,
  -- The URL and the signing secret, sealed.
  target text not null,
  state text not null default 'active' check (state in ('active', 'over_limit', 'gone')),
  opened_at timestamptz not null default now(),
  redelivered_at timestamptz
);

create index order_webhooks_payer on order_webhooks (payer, opened_at);

create table webhook_events (
  id text primary key default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  order_id text not null references order_webhooks (order_id) on delete cascade,
  seq integer not null,
  type text not null,
  at timestamptz not null default now(),
  data jsonb not null,
  attempts integer not null default 0,
  attempted_at timestamptz,
  answer text,
  delivered_at timestamptz,
  due_at timestamptz,
  give_up_at timestamptz not null,
  locked_until timestamptz not null default now(),
  unique (order_id, seq)
);

create index webhook_events_due on webhook_events (due_at) where due_at is not null;

-- One that is too many is kept and gets nothing: the purchase goes on.
create function limit_webhooks() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks payer ' || new.payer, 0));
  if (select count(*) from order_webhooks
      where payer = new.payer and opened_at > now() - interval '1 hour' and state <> 'over_limit') >= 60
    or (select count(*) from order_webhooks join webhook_events using (order_id)
      where payer = new.payer and due_at is not null) >= 200 then
    new.state := 'over_limit';
  end if;
  return new;
end
$$;

create trigger limit_webhooks before insert on order_webhooks
  for each row execute function limit_webhooks();

-- By a trigger, so that no write of an order leaves its event out.
create function note_webhook_event() returns trigger language plpgsql as $$
begin
  insert into webhook_events (order_id, seq, type, data, due_at, give_up_at)
  select new.id, new.version,
    'order.' || lower(case when new.state is distinct from old.state then new.state
      else coalesce(new.refund_state, new.state) end),
    jsonb_build_object('orderId', new.id, 'paymentId', new.payment_id, 'state', new.state,
      'refund_state', new.refund_state, 'transactionHash', new.transaction_hash,
      'refundTransactionHash', new.refund_transaction_hash),
    case state when 'active' then now() end, now() + interval '3 days'
  from order_webhooks where order_id = new.id and state <> 'over_limit';
  return null;
end
$$;

create trigger note_webhook_event after update on orders for each row
  when (old.state is distinct from new.state or old.refund_state is distinct from new.refund_state)
  execute function note_webhook_event();

-- THE STORE ITSELF

-- Whom the store sells nothing to: wallets, coin addresses, and what names a receiver.
create table denylist_changes (
  seq bigint generated always as identity primary key,
  -- As the operator wrote it, and what all of its spellings have in common.
  party text not null check (party <> ''),
  identity text not null check (identity <> ''),
  -- Who says so: the operator's own hand, or an imported list. Whom one of them denies is denied.
  list text not null default 'hand' check (list <> ''),
  is_denied boolean not null,
  reason text not null check (reason <> ''),
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);

create index denylist_changes_of_identity on denylist_changes (identity, list, seq desc);

-- Of a person whose personal fields are erased the list keeps a keyed digest, and nothing else changes.
create trigger guard_denylist_change before update on denylist_changes for each row
  when (new.identity !~ '^erased[0-9a-f]{32}$' or new.party <> new.identity
    or (to_jsonb(new) - 'party' - 'identity') <> (to_jsonb(old) - 'party' - 'identity'))
  execute function refuse_change();

create view denylist as
  select party, identity, list, reason, changed_by, changed_at
  from (
    select distinct on (identity, list) * from denylist_changes order by identity, list, seq desc
  ) as newest
  where is_denied;

-- What is sold and at what price (docs/operators/selling-rules.md). A rule that is ended is deleted; the audit keeps it.
create table selling_rules (
  id integer generated always as identity primary key,
  -- Its type and key: the key is empty for everything, and KEY/CC of a brand in a country.
  scope jsonb not null check (scope ->> 'type' in
    ('everything', 'kind', 'brand', 'country', 'brand_country', 'offer', 'supplier', 'method')),
  -- Its type, with the basis points (bps) and US cents of a margin, or the text that replaces another.
  effect jsonb not null check (effect ->> 'type' in
    ('pause', 'hide', 'margin', 'least_margin', 'feature', 'name', 'description', 'picture')),
  until timestamptz,
  reason text not null check (reason <> ''),
  placed_by text not null check (placed_by <> ''),
  placed_at timestamptz not null default clock_timestamp(),
  check ((effect ->> 'bps')::integer > -10000),
  check (until > placed_at)
);

create table store_identity (
  only_row boolean primary key default true check (only_row),
  mode text not null,
  network text not null,
  asset text not null,
  pay_to text not null,
  claimed_at timestamptz not null
);

-- Every address at which the store was ever paid or from which it ever refunded, each time that it became the store's.
create table store_wallets (
  seq bigint generated always as identity primary key,
  role text not null check (role in ('pay_to', 'refunds')),
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  -- When it became the store's; null where that is not known, as for the first of its role.
  since timestamptz,
  -- Only of one that an operator has named as an earlier one: when they did.
  named_at timestamptz
);

create table nodes (
  id uuid primary key,
  name text not null,
  version text not null,
  -- The id of the key that it seals and signs with; no key can be told from its id.
  key_id text not null check (key_id ~ '^[0-9a-f]{12}$'),
  -- Keyed digests of the settings in which nodes have to agree, under each of its keys.
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  seen_at timestamptz not null,
  left_at timestamptz
);

create table used_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);

create index used_nonces_by_end on used_nonces (expires_at);

-- The last good list of the suppliers' offers, in pages. Its row comes after its pages.
create sequence catalog_snapshot_ids;

create table catalog_snapshot (
  id bigint primary key,
  format integer not null,
  read_at timestamptz not null,
  offers integer not null,
  set_aside jsonb not null,
  -- Kinds of a list that were not believed, and when the offers that stayed on sale were read.
  held jsonb not null
);

create table catalog_pages (
  snapshot bigint not null,
  page integer not null,
  offers json not null,
  primary key (snapshot, page)
);

-- WHAT IS DONE AGAIN AND AGAIN

-- Each end of a recurring act of the operator. How long ago the last one was is a metric.
create table operator_runs (
  seq bigint generated always as identity primary key,
  what text not null check (what in ('reconcile', 'backup', 'restore_drill')),
  -- good; differs: it came to an end and found something; failed: it could not come to its end.
  result text not null check (result in ('good', 'differs', 'failed')),
  ended_at timestamptz not null default clock_timestamp()
);

create index operator_runs_newest on operator_runs (what, ended_at desc);

-- WHAT THE OPERATOR IS TOLD

-- A condition that needs a person, from when a node has seen it for long enough until no node has seen it for a while.
create table incidents (
  id bigint generated always as identity primary key,
  condition text not null,
  -- The part, wallet or act that it concerns; empty if there is only one.
  subject text not null,
  text text not null,
  opened_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  recovered_at timestamptz
);

create unique index incidents_open on incidents (condition, subject) where recovered_at is null;

-- What each channel has told of it so far.
create table incident_notices (
  incident_id bigint not null references incidents (id) on delete cascade,
  channel text not null check (channel in ('mail', 'webhook')),
  told text not null default 'nothing' check (told in ('nothing', 'opening', 'recovery')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  locked_until timestamptz not null default now(),
  primary key (incident_id, channel)
);

create index incident_notices_untold on incident_notices (due_at) where told <> 'recovery';

-- WHAT STAYS AS IT WAS WRITTEN

-- The claim on a payment and the events go with what they belong to, and never without it.
create function keep_with_owner() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'checkout_events' then
    if not exists (select from checkouts where id = old.checkout_id) then return old; end if;
  elsif not exists (select from orders where id = old.order_id) then
    return old;
  end if;
  raise exception '% keeps what was written: no delete', tg_table_name;
end
$$;

do $$
declare
  rule record;
  one text;
begin
  for rule in
    values
      ('update or delete or truncate', array['ledger', 'checkout_ledger', 'payout_grants', 'refund_switch',
        'hand_payouts', 'acknowledged_movements', 'store_wallets', 'operator_runs', 'order_showings']),
      ('update or truncate', array['payments', 'order_events', 'checkout_events', 'order_ends', 'selling_rules']),
      ('delete or truncate', array['goodwill', 'processor_payouts', 'denylist_changes']),
      ('truncate', array['orders', 'checkouts', 'idempotency_keys', 'refund_claims', 'payment_reservations',
        'wallet_limits', 'approvals', 'order_mail', 'order_persons', 'order_webhooks', 'webhook_events',
        'used_nonces', 'nodes', 'store_identity', 'incidents', 'incident_notices'])
  loop
    foreach one in array rule.column2 loop
      execute format('create trigger keep_%1$s before %2$s on %1$I for each statement
        execute function refuse_change()', one, rule.column1);
    end loop;
  end loop;
  foreach one in array array['payments', 'order_events', 'checkout_events'] loop
    execute format('create trigger keep_%1$s_rows before delete on %1$I for each row
      execute function keep_with_owner()', one);
  end loop;
end
$$;

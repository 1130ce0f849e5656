-- The life of an order, enforced by the database too: a defect in the code above, or a statement typed on a
-- console, cannot deliver and refund an order, deliver it twice, or rewrite its history.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% keeps what was written: no %', tg_table_name, lower(tg_op);
end
$$;

-- An order is one row: what queries go by in columns, everything else in doc. The sealed fields (recipient,
-- delivery) have columns of their own, so that each can be erased without touching the rest.
create table orders (
  id text primary key,
  payment_id text not null unique,
  version integer not null check (version >= 1),
  -- Identifies the write that made this version, so that its writer recognises it when the answer to the write was
  -- lost.
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
  -- Passed with a new order to the check of the wallet's limits, which does not let it be stored.
  recipient_digest text constraint orders_keep_no_recipient_digest check (recipient_digest is null),
  -- Who else an order counts for, as keyed digests: the client that asked for it, and its recipient with the offer.
  -- They are erased with the personal fields.
  client text,
  receiver text,
  -- Passed with a new order to the check of the budgets, which does not let them be stored.
  budgets jsonb constraint orders_keep_no_budgets check (budgets is null),

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
  constraint orders_rail_known check (doc #>> '{tender,rail}' in ('x402', 'btcpay')),
  constraint orders_receipt_of_its_rail check (doc #>> '{receipt,rail}' = doc #>> '{tender,rail}'),
  constraint orders_block_of_a_receipt
    check (doc #>> '{receipt,rail}' <> 'x402' or doc #> '{receipt,block}' is not null)
)
-- An order is written four times, and never in place, since every move changes an index: each write leaves a dead
-- row of some 2 kB. By default a fifth of the table has to be dead before it is vacuumed. Sooner, the room of dead
-- rows is reused, and the indexes of open orders, which the sweep reads, stay small
-- (docs/operators/scaling.md has the measurement).
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);

-- A node that gives an order up sets its due time to the end of the lease or later. So a lease that ends after the
-- due time was broken off, and the sweep takes those first, however many others only wait.
create index orders_due on orders ((locked_until <= due_at), due_at) where due_at is not null;
create index orders_by_payer on orders (payer, placed_at desc, id desc);
create index orders_by_transaction on orders (transaction_hash) where transaction_hash is not null;
create index orders_by_iccid on orders (iccid_digest, payer) where iccid_digest is not null;
create index orders_refund on orders (refund_state, changed_at)
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED');
create index orders_to_erase on orders (finished_at) where recipient is not null;
create index orders_never_paid on orders (finished_at) where state = 'PAYMENT_FAILED';
-- The newest block that contains a payment on record: how much of the chain this record knows. Read at every start.
create index orders_by_block on orders (((doc #>> '{receipt,block}')::bigint))
  where transaction_hash is not null;

-- What may have to be refunded in USDC, from the refund wallet, is summed up for every few purchases. Coins are
-- refunded from the payment processor's wallet.
create index orders_owed on orders (amount)
  where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
    and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
    and doc #>> '{tender,rail}' = 'x402';

-- Read every few seconds before more is sold: what has to be bought, what the supplier may still charge for orders
-- that were given up, and which orders were given up lately.
create index orders_to_supply on orders (amount) where state in ('PAID', 'FULFILLING');
create index orders_without_funds on orders (changed_at)
  where doc #>> '{failure,code}' = 'INSUFFICIENT_FUNDS';
create index orders_supply_open on orders (amount) where doc #>> '{supply,state}' = 'OPEN';
create index orders_given_up on orders (changed_at) where outcome = 'REFUND';
create index orders_awaiting_payment on orders (amount) where state = 'PAYMENT_PENDING';

-- For the budgets of those who do not pay and whose orders fail.
create index orders_undelivered_by_payer on orders (payer, placed_at)
  where outcome is distinct from 'DELIVER';
create index orders_undelivered_by_client on orders (client, placed_at)
  where client is not null and outcome is distinct from 'DELIVER';
create index orders_undelivered_by_receiver on orders (receiver, placed_at)
  where receiver is not null and outcome is distinct from 'DELIVER';

-- One payment opens one order, for ever.
create table payments (
  payment_key text primary key,
  order_id text not null unique references orders (id)
);

-- Which request a payment came with, from before anybody outside the store saw the payment
-- (docs/contributors/decisions/016-one-payment-one-request.md). Nothing else is kept of a payment that never paid,
-- and this is deleted after a day.
create table payment_reservations (
  payment_key text primary key,
  -- Keyed digest of what is asked for.
  request text not null,
  -- Whether the payer's own key is known to have signed.
  signed boolean not null,
  reserved_at timestamptz not null,
  -- When the requests came that may be about to open an order with this payment. A request that was judged removes
  -- its own entry, so that an equal one, judged otherwise, can tell whether it is the last.
  under_way timestamptz[] not null default '{}'
);

create index payment_reservations_age on payment_reservations (reserved_at);

-- The key is kept as its SHA-256.
create table idempotency_keys (
  payer text not null check (payer = lower(payer)),
  key text not null,
  order_id text not null references orders (id),
  created_at timestamptz not null,
  primary key (payer, key)
);

create index idempotency_keys_by_order on idempotency_keys (order_id);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- What happened to an order, one row for each of its versions. Nothing secret, nothing personal.
create table order_events (
  order_id text not null references orders (id),
  seq integer not null,
  at timestamptz not null,
  state text not null,
  refund_step text,
  detail jsonb not null,
  primary key (order_id, seq)
);

-- The address that somebody left with an order, as a keyed digest: enough to recognise it when it is typed again,
-- and nothing to read. It may be left with the form that begins a checkout, whose order has an id but is not there
-- yet. It is erased with the personal fields of the order, or by its age if there never is one.
create table order_mail (
  order_id text primary key,
  address_digest text not null,
  left_at timestamptz not null
);

create index order_mail_address on order_mail (address_digest);

-- No order begins decided, so goods and refunds are only what the moves have led to.
create function refuse_beginning() returns trigger language plpgsql as $$
begin
  raise exception 'order %: it cannot begin as %', new.id, new.state;
end
$$;

create trigger guard_beginning before insert on orders for each row
  when (new.outcome is not null) execute function refuse_beginning();

-- Triggers of one table run in the order of their names: what follows guard_order runs after it.
create function guard_order() returns trigger language plpgsql as $$
declare
  unleased orders := new;
begin
  if (new.id, new.payment_id, new.kind, new.offer_id, new.payer, new.amount, new.placed_at)
    is distinct from
    (old.id, old.payment_id, old.kind, old.offer_id, old.payer, old.amount, old.placed_at) then
    raise exception 'order %: what was bought and paid never changes', old.id;
  end if;
  if new.version = old.version then
    unleased.due_at := old.due_at;
    unleased.locked_until := old.locked_until;
    if unleased is distinct from old then
      raise exception 'order %: only its lease may change without a new version', old.id;
    end if;
    return new;
  end if;
  -- An authorization is completed after it was written down; an invoice was complete.
  if old.doc #>> '{tender,rail}' = 'btcpay' and new.doc -> 'tender' is distinct from old.doc -> 'tender'
  then
    raise exception 'order %: what was bought and paid never changes', old.id;
  end if;
  if new.version <> old.version + 1 then
    raise exception 'order %: version % cannot follow %', old.id, new.version, old.version;
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
  if old.refund_state = 'REFUNDED' and new.refund_state is distinct from 'REFUNDED' then
    raise exception 'order %: it was refunded, for good', old.id;
  end if;
  return new;
end
$$;

create trigger guard_order before update on orders for each row execute function guard_order();

-- An order has on record where it is bought: at which supplier, and as which of its products. One that names no
-- supplier is bought at zendit.
create function guard_order_source() returns trigger language plpgsql as $$
begin
  raise exception 'order %: where it is bought never changes', old.id;
end
$$;

create trigger guard_order_source before update on orders for each row
  when (old.doc #> '{item,source}' is not null and new.doc ? 'item'
    and new.doc #> '{item,source}' is distinct from old.doc #> '{item,source}')
  execute function guard_order_source();

-- What a supplier has accepted is never forgotten: not asked for again, and not given up because the supplier is
-- silent.
create function guard_order_supply() returns trigger language plpgsql as $$
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
  return new;
end
$$;

create trigger guard_order_supply before update on orders for each row
  when (new.version <> old.version and old.doc ? 'acceptedAt')
  execute function guard_order_supply();

-- How many orders have ended in each state, counted as they end, so that no count reads all orders. Each end adds a
-- row, and rows are added up now and then, so two orders that end at once wait for no common row. `gone` counts
-- those that are no longer on record, so `came` never falls.
create table order_ends (
  state text not null check (state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED')),
  came bigint not null check (came >= 0),
  gone bigint not null check (gone >= 0)
);

create trigger keep_order_ends before update or truncate on order_ends
  for each statement execute function refuse_change();

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

-- No order leaves such a state, so each is counted once.
create trigger count_end_of_new after insert on orders for each row
  when (new.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();
create trigger count_end_of_moved after update on orders for each row
  when (new.state <> old.state
    and new.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();
create trigger count_end_gone after delete on orders for each row
  when (old.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();

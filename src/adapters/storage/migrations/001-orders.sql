-- An order is one row: what people search by in columns, everything else in doc. The sealed fields
-- have columns of their own, so that each can be erased without touching the rest.
create table orders (
  id text primary key,
  payment_id text not null unique,
  version integer not null check (version >= 1),
  -- Names the write that made this version, so that its writer knows it again when the answer to
  -- the write was lost.
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
  -- By the database's clock, as are the leases: the nodes need not agree on the time.
  finished_at timestamptz,
  due_at timestamptz,
  locked_until timestamptz not null,
  recipient text,
  delivery text,
  doc jsonb not null
);

create index orders_due on orders (due_at) where due_at is not null;
create index orders_by_payer on orders (payer, placed_at desc, id desc);
create index orders_by_transaction on orders (transaction_hash) where transaction_hash is not null;
create index orders_by_iccid on orders (iccid_digest, payer) where iccid_digest is not null;
create index orders_refund on orders (refund_state, changed_at)
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED');
create index orders_to_erase on orders (finished_at) where recipient is not null;

-- One payment opens one order, for ever.
create table payments (
  payment_key text primary key,
  order_id text not null unique references orders (id)
);

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

-- What happened to an order, one row for every version of it. Nothing secret, nothing personal.
create table order_events (
  order_id text not null references orders (id),
  seq integer not null,
  at timestamptz not null,
  state text not null,
  refund_step text,
  detail jsonb not null,
  primary key (order_id, seq)
);

create table refund_claims (
  order_id text not null references orders (id),
  key text not null,
  body_hash text not null,
  created_at timestamptz not null,
  primary key (order_id, key)
);

-- A checkout is one row, as an order is: what is searched and what rules go by in columns, everything
-- else in doc. The recipient and the address for money that goes back have columns of their own, so
-- that they can be erased. Amounts of a coin are in its smallest unit.
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
  -- Of all returns, wherever they are; and of those that were sent.
  returning_units numeric(39, 0) not null default 0,
  returned numeric(39, 0) not null default 0,
  is_placed boolean,
  -- FAILED where one of the returns is, DUE where one is on its way, else null.
  return_state text check (return_state in ('DUE', 'FAILED')),
  transactions text[] not null default '{}',
  started_at timestamptz not null,
  changed_at timestamptz not null,
  finished_at timestamptz,
  due_at timestamptz,
  locked_until timestamptz not null,
  doc jsonb not null,
  constraint checkouts_state_known
    check (state in ('OPENING', 'REFUSED', 'OPEN', 'ORDERED', 'ENDED')),
  constraint checkouts_doc_agrees check (doc ->> 'state' is not distinct from state),
  constraint checkouts_due_until_finished check ((due_at is null) = (finished_at is not null)),
  constraint checkouts_invoiced
    check ((invoice_id is null) = (state in ('OPENING', 'REFUSED'))
      and (invoice_units is null) = (invoice_id is null)),
  constraint checkouts_price_of_an_order
    check ((price is not null) = (state = 'ORDERED') and (is_placed is null) = (price is null))
);

-- The same form sent twice is one checkout, unless nobody could have paid the first one.
create unique index checkouts_form_key on checkouts (form_key) where state <> 'REFUSED';
create index checkouts_due on checkouts ((locked_until <= due_at), due_at)
  where due_at is not null;
create index checkouts_by_transaction on checkouts using gin (transactions);
create index checkouts_by_address on checkouts (lower(doc #>> '{invoice,address}'))
  where doc #>> '{invoice,address}' is not null;
create index checkouts_returns on checkouts (return_state) where return_state is not null;
create index checkouts_to_erase on checkouts (finished_at) where recipient is not null;

-- What happened to a checkout, one row for every version of it. Nothing secret, nothing personal.
create table checkout_events (
  checkout_id text not null references checkouts (id),
  seq integer not null,
  at timestamptz not null,
  state text not null,
  detail jsonb not null,
  primary key (checkout_id, seq)
);

-- Where the confirmed money of a checkout is, in units of its coin. What was received is positive,
-- where it is now is negative. What the price stands for is in the ledger of the orders.
create table checkout_ledger (
  checkout_id text not null references checkouts (id),
  seq integer not null,
  account text not null check (account in ('received', 'price', 'due', 'returned', 'kept')),
  units numeric(39, 0) not null check (units <> 0),
  at timestamptz not null,
  primary key (checkout_id, seq, account)
);

-- Returns that may be sent, granted one by one under the caps of refunds; worth in atomic USDC.
create table return_grants (
  checkout_id text not null references checkouts (id),
  seq integer not null check (seq >= 1),
  amount numeric(39, 0) not null check (amount >= 1),
  granted_at timestamptz not null,
  primary key (checkout_id, seq)
);

create index return_grants_by_time on return_grants (granted_at) include (amount);

-- Everything that the caps count, each kind for itself: whoever pays invoices late and too much all
-- day holds up no refund of an order.
create view grants as
  select 'refund' as kind, amount, granted_at from refund_grants
  union all
  select 'return', amount, granted_at from return_grants;

-- Payouts that an operator made where the processor sends none. One reference is paid once.
create table hand_payouts (
  reference text primary key,
  coin text not null,
  units numeric(39, 0) not null check (units >= 1),
  address text not null,
  transaction_hash text not null check (transaction_hash = lower(transaction_hash)),
  noted_by text not null,
  noted_at timestamptz not null,
  -- One transaction of an operator may pay several buyers, but nobody twice.
  unique (transaction_hash, address, units)
);

create trigger keep_checkouts before delete or truncate on checkouts
  for each statement execute function refuse_change();
create trigger keep_checkout_events before update or delete or truncate on checkout_events
  for each statement execute function refuse_change();
create trigger keep_checkout_ledger before update or delete or truncate on checkout_ledger
  for each statement execute function refuse_change();
create trigger keep_return_grants before update or delete or truncate on return_grants
  for each statement execute function refuse_change();
create trigger keep_hand_payouts before update or delete or truncate on hand_payouts
  for each statement execute function refuse_change();

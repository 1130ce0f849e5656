-- A checkout is one row, as an order is: what queries and rules go by in columns, everything else in doc. The recipient
-- and the refund address have columns of their own, so that they can be erased. Amounts of a coin are in its smallest
-- unit.
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
  started_at timestamptz not null,
  changed_at timestamptz not null,
  finished_at timestamptz,
  due_at timestamptz,
  locked_until timestamptz not null,
  doc jsonb not null,
  -- Set with the invoice and cleared when the checkout is closed.
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
create index checkouts_by_address on checkouts (lower(doc #>> '{invoice,address}'))
  where doc #>> '{invoice,address}' is not null;
create index checkouts_returns on checkouts (return_state) where return_state is not null;
create index checkouts_to_erase on checkouts (finished_at) where recipient is not null;
create index checkouts_by_client on checkouts (client, coin) where client is not null;
-- An address that was shown for a checkout belongs to that checkout until it is closed for good: a late payment to it is
-- still that buyer's. Some plugins of the payment processor have a fixed list of addresses and hand them out again, and
-- a processor that was restored from a backup may do the same.
create unique index checkouts_held_address on checkouts (coin, held_address) where held_address is not null;

-- What happened to a checkout, one row for each of its versions. Nothing secret, nothing personal.
create table checkout_events (
  checkout_id text not null references checkouts (id),
  seq integer not null,
  at timestamptz not null,
  state text not null,
  detail jsonb not null,
  primary key (checkout_id, seq)
);

-- Where the confirmed money of a checkout is, in units of its coin. What was received is positive, where it is now is
-- negative. What the price pays for is in the ledger of the orders.
create table checkout_ledger (
  checkout_id text not null references checkouts (id),
  seq integer not null,
  account text not null check (account in ('received', 'price', 'due', 'returned', 'kept')),
  units numeric(39, 0) not null check (units <> 0),
  at timestamptz not null,
  primary key (checkout_id, seq, account)
);

-- Returns that may be sent, granted one by one under the caps of refunds; the amount is in atomic USDC.
create table return_grants (
  checkout_id text not null references checkouts (id),
  seq integer not null check (seq >= 1),
  amount numeric(39, 0) not null check (amount >= 1),
  granted_at timestamptz not null,
  primary key (checkout_id, seq)
);

create index return_grants_by_time on return_grants (granted_at) include (amount);

-- Payouts that an operator made because the processor sends none. One reference is paid once.
create table hand_payouts (
  reference text primary key,
  coin text not null,
  units numeric(39, 0) not null check (units >= 1),
  address text not null,
  transaction_hash text not null check (transaction_hash = lower(transaction_hash)),
  noted_by text not null,
  noted_at timestamptz not null,
  -- One transaction of an operator may pay several buyers, and one buyer several times, as wallets do that send in
  -- batches. Each of its transfers pays once.
  transfer smallint not null default 1 check (transfer >= 1),
  unique (transaction_hash, address, units, transfer)
);

create trigger keep_hand_payouts before update or delete or truncate on hand_payouts
  for each statement execute function refuse_change();

-- What the processor was seen to have of each payout. A processor that has forgotten one, because its database was
-- restored from a backup, may have sent it: its list is not the only memory.
create table processor_payouts (
  reference text primary key,
  -- The processor's own ids. What was seen once stays.
  pull_payments text[] not null default '{}',
  payouts text[] not null default '{}',
  -- Since when the processor has it without finishing it, and when an operator was told so.
  waits_since timestamptz,
  told_at timestamptz
);

create index processor_payouts_late on processor_payouts (told_at) where told_at is not null;

create function keep_seen_payouts() returns trigger language plpgsql as $$
begin
  if new.reference <> old.reference or not new.pull_payments @> old.pull_payments
    or not new.payouts @> old.payouts then
    raise exception 'payout %: what was seen of it is kept', old.reference;
  end if;
  return new;
end
$$;

create trigger keep_seen_payouts before update on processor_payouts
  for each row execute function keep_seen_payouts();
create trigger keep_processor_payouts before delete or truncate on processor_payouts
  for each statement execute function refuse_change();

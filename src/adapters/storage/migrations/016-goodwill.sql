-- Money that an operator gives the buyer of goods that were delivered. It comes from the float of the store, so it is
-- no refund: what the order received stays delivered. Nothing of it is ever deleted.
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
  -- When it was granted under the caps.
  granted_at timestamptz,
  changed_at timestamptz not null,
  due_at timestamptz,
  locked_until timestamptz not null,
  -- The payout, as in `refund` of an order, with the payment that says to whom and on which network it goes.
  doc jsonb not null,

  constraint goodwill_step_known check (doc ->> 'step' in ('DUE', 'SIGNED', 'REFUNDED', 'FAILED')),
  constraint goodwill_due_until_finished check ((due_at is null) = (doc ->> 'step' in ('REFUNDED', 'FAILED'))),
  constraint goodwill_granted_before_signed check (granted_at is not null or doc ->> 'step' in ('DUE', 'FAILED'))
);

create index goodwill_due on goodwill (due_at) where due_at is not null;
create index goodwill_by_payer on goodwill (payer);

-- It is for an order in USDC that was delivered and is paid for good, goes to who paid it, and is at most the price.
create function guard_new_goodwill() returns trigger language plpgsql as $$
begin
  perform from orders where id = new.id and outcome = 'DELIVER' and settlement = 'FINAL'
    and payer = new.payer and amount >= new.amount and doc #>> '{tender,rail}' = 'x402';
  if not found then
    raise exception 'order %: goodwill of % cannot be given to %', new.id, new.amount, new.payer;
  end if;
  if new.version <> 1 or new.doc ->> 'step' <> 'DUE' or new.granted_at is not null then
    raise exception 'order %: goodwill begins as due', new.id;
  end if;
  return new;
end
$$;

create trigger guard_new_goodwill before insert on goodwill
  for each row execute function guard_new_goodwill();

-- Who gets how much never changes, nor what was granted or paid. What is signed pays exactly that.
create function guard_goodwill() returns trigger language plpgsql as $$
declare
  before text := old.doc ->> 'step';
  after text := new.doc ->> 'step';
  signed jsonb := new.doc -> 'signed';
begin
  if (new.id, new.payer, new.amount, new.reason, new.given_by, new.given_at)
      is distinct from (old.id, old.payer, old.amount, old.reason, old.given_by, old.given_at)
    or (old.granted_at is not null and new.granted_at is distinct from old.granted_at) then
    raise exception 'order %: goodwill that was given never changes', old.id;
  end if;
  if new.version <> old.version + (new.doc is distinct from old.doc)::integer then
    raise exception 'order %: every change of its goodwill is a version', old.id;
  end if;
  if after <> before and (before, after) not in (('DUE', 'SIGNED'), ('DUE', 'FAILED'), ('SIGNED', 'DUE'),
      ('SIGNED', 'REFUNDED'), ('SIGNED', 'FAILED'), ('FAILED', 'DUE'))
    or before = 'REFUNDED' and new.doc is distinct from old.doc then
    raise exception 'order %: its goodwill cannot go from % to %', old.id, before, after;
  end if;
  if signed is not null and (lower(signed ->> 'to') is distinct from new.payer
      or (signed #>> '{amount,$bigint}')::numeric is distinct from new.amount) then
    raise exception 'order %: its goodwill goes to the payer and is what was given', old.id;
  end if;
  return new;
end
$$;

create trigger guard_goodwill before update on goodwill
  for each row execute function guard_goodwill();
create trigger keep_goodwill before delete or truncate on goodwill
  for each statement execute function refuse_change();

-- Double entries in atomic USDC. What left the float is positive, and what was given with it is negative.
create table goodwill_ledger (
  id text not null references goodwill (id),
  account text not null check (account in ('float', 'goodwill')),
  amount numeric(39, 0) not null check (amount <> 0),
  at timestamptz not null,
  primary key (id, account)
);

create trigger keep_goodwill_ledger before update or delete or truncate on goodwill_ledger
  for each statement execute function refuse_change();

-- At every commit the entries say what the step says.
create function check_goodwill_books() returns trigger language plpgsql as $$
declare
  booked jsonb;
  due jsonb;
begin
  select case when doc ->> 'step' = 'REFUNDED' then jsonb_build_object('float', amount, 'goodwill', -amount)
    else '{}' end into due from goodwill where id = new.id;
  select coalesce(jsonb_object_agg(account, amount), '{}') into booked from goodwill_ledger where id = new.id;
  if booked <> due then
    raise exception 'order %: the ledger says % of its goodwill, and its step says %', new.id, booked, due;
  end if;
  return null;
end
$$;

create constraint trigger check_goodwill_books_of_moved after update on goodwill
  deferrable initially deferred for each row
  when (new.version <> old.version) execute function check_goodwill_books();
create constraint trigger check_goodwill_books_of_entry after insert on goodwill_ledger
  deferrable initially deferred for each row execute function check_goodwill_books();

-- The caps count goodwill by itself, like the other kinds (006-payout-caps.sql).
create or replace view grants as
  select 'refund' as kind, amount, granted_at from refund_grants
  union all
  select 'return', amount, granted_at from return_grants
  union all
  select 'goodwill', amount, granted_at from goodwill where granted_at is not null;

-- The amount is the one on record, so no caller can ask for another.
create function allow_goodwill(wanted text, hour_cap numeric, day_cap numeric) returns text
language plpgsql as $$
declare
  is_stopped boolean;
  one goodwill;
  said text;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  select * into one from goodwill where id = wanted;
  if one.granted_at is not null then return 'granted'; end if;
  if one.id is null or one.doc ->> 'step' <> 'DUE' then
    raise exception 'order %: no goodwill is due', wanted;
  end if;
  said := allow_amount('goodwill', one.amount, hour_cap, day_cap);
  if said = 'granted' then update goodwill set granted_at = now() where id = wanted; end if;
  return said;
end
$$;

-- How sure the payment of an order is: seen in a block, in one that stays, or vanished for good.
alter table orders add column settlement text;

alter table orders
  add constraint orders_settlement_known check (settlement in ('SEEN', 'FINAL', 'LOST')),
  add constraint orders_settled_when_paid
    check ((settlement is null) = (state in ('PAYMENT_PENDING', 'PAYMENT_FAILED')));

-- What may have to go back is summed up for every few purchases, so it is found without the rest.
create index orders_owed on orders (amount)
  where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
    and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST';

-- The ledger: double entries in atomic USDC, written with the move they belong to and never changed.
-- What was received is positive, and where it is now is negative.
create table ledger (
  order_id text not null references orders (id),
  seq integer not null,
  account text not null check (account in ('received', 'open', 'delivered', 'refunded')),
  amount numeric(39, 0) not null check (amount <> 0),
  at timestamptz not null,
  primary key (order_id, seq, account)
);

create trigger keep_ledger before update or delete or truncate on ledger
  for each statement execute function refuse_change();

-- At every commit the books of an order say what its state says, and sum to zero. It is looked at
-- when the transaction ends, because the order and its entries are written one after the other.
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

create trigger keep_refund_grants before update or delete or truncate on refund_grants
  for each statement execute function refuse_change();

-- One row, which every grant locks: grants come one after the other, and a switch counts at once.
create table refund_switch (
  only_row boolean primary key default true check (only_row),
  stopped boolean not null,
  reason text,
  changed_by text,
  changed_at timestamptz not null
);
insert into refund_switch values (true, false, null, null, now());

-- Every turn of the switch, so that it can be told later who stopped refunds, and why.
create table refund_switch_turns (
  stopped boolean not null,
  reason text,
  changed_by text,
  changed_at timestamptz not null
);

create function note_turn() returns trigger language plpgsql as $$
begin
  insert into refund_switch_turns values (new.stopped, new.reason, new.changed_by, new.changed_at);
  return null;
end
$$;

create trigger note_turn after update on refund_switch
  for each row execute function note_turn();
create trigger keep_refund_switch before delete or truncate on refund_switch
  for each statement execute function refuse_change();
create trigger keep_refund_switch_turns before update or delete or truncate on refund_switch_turns
  for each statement execute function refuse_change();

-- The amount and the payee are the order's own, so no caller can ask for others.
create function allow_refund(wanted text, hour_cap numeric, day_cap numeric) returns text
language plpgsql as $$
declare
  is_stopped boolean;
  owed numeric;
  hour numeric;
  day numeric;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  if exists (select from refund_grants where order_id = wanted) then return 'granted'; end if;
  select amount into owed from orders
    where id = wanted and outcome = 'REFUND' and settlement = 'FINAL';
  if owed is null then
    raise exception 'order %: it is not one whose money goes back', wanted;
  end if;
  if owed > least(hour_cap, day_cap) then return 'over_cap'; end if;
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0),
      coalesce(sum(amount), 0)
    into hour, day from refund_grants where granted_at > now() - interval '1 day';
  if hour + owed > hour_cap then return 'hour_cap'; end if;
  if day + owed > day_cap then return 'day_cap'; end if;
  insert into refund_grants values (wanted, owed, now());
  return 'granted';
end
$$;

create or replace function guard_order() returns trigger language plpgsql as $$
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
  if old.settlement in ('FINAL', 'LOST') and new.settlement is distinct from old.settlement then
    raise exception 'order %: its payment is %, for good', old.id, old.settlement;
  end if;
  if old.refund_state = 'REFUNDED' and new.refund_state is distinct from 'REFUNDED' then
    raise exception 'order %: it was refunded, for good', old.id;
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
  end if;
  return new;
end
$$;

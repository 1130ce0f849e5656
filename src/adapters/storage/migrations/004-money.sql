-- How sure the payment of an order is: seen in a block, in one that stays, or vanished for good.
alter table orders add column settlement text;

alter table orders
  add constraint orders_settlement_known check (settlement in ('SEEN', 'FINAL', 'LOST')),
  add constraint orders_settled_when_paid
    check ((settlement is null) = (state in ('PAYMENT_PENDING', 'PAYMENT_FAILED')));

-- What may have to go back in USDC, from the refund wallet, is summed up for every few purchases, so
-- it is found without the rest; coins go back from the processor's wallet.
create index orders_owed on orders (amount)
  where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
    and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
    and doc #>> '{tender,rail}' = 'x402';

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

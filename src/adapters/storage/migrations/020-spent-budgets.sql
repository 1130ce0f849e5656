-- Whom an order counts for besides its payer, as keyed digests: the client that asked for it, and its
-- receiver with the offer. They are erased with the personal fields.
alter table orders
  add column client text,
  add column receiver text,
  -- Told with a new order to the check below, which does not let it be kept.
  add column budgets jsonb constraint orders_keep_no_budgets check (budgets is null);

create index orders_undelivered_by_payer on orders (payer, placed_at)
  where outcome is distinct from 'DELIVER';
create index orders_undelivered_by_client on orders (client, placed_at)
  where client is not null and outcome is distinct from 'DELIVER';
create index orders_undelivered_by_receiver on orders (receiver, placed_at)
  where receiver is not null and outcome is distinct from 'DELIVER';

-- Budgets are counted from the orders themselves, so that nothing is counted twice and nothing has to
-- be given back: who came to nothing within the window, and what. The first budget that is spent, with
-- the seconds until it is not. A payment that is still open may end at any moment.
create function spent_budget(rules jsonb, of_payer text, of_client text, of_receiver text, at timestamptz)
returns table (budget text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with counted as (
    select one.whose, one.placed_at, one.is_open,
      case when one.outcome = 'REFUND' then 'failed_orders' else 'unpaid_payments' end as budget
    from (
      select 'payer' as whose, o.placed_at, o.state = 'PAYMENT_PENDING' as is_open, o.outcome, o.state, o.settlement
        from orders o where o.payer = of_payer and o.outcome is distinct from 'DELIVER'
          and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
      union all
      select 'client', o.placed_at, o.state = 'PAYMENT_PENDING', o.outcome, o.state, o.settlement
        from orders o where o.client = of_client and o.outcome is distinct from 'DELIVER'
          and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
      union all
      select 'receiver', o.placed_at, false, o.outcome, o.state, o.settlement
        from orders o where o.receiver = of_receiver and o.outcome is distinct from 'DELIVER'
          and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
    ) as one
    where one.outcome = 'REFUND' or one.state in ('PAYMENT_PENDING', 'PAYMENT_FAILED')
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

-- The orders of a payer, and those of a client, are opened one after the other, so that those that are
-- sent at once are counted. By its name it runs before the limits of the payer are looked at.
create function check_budgets() returns trigger language plpgsql as $$
declare
  spent record;
begin
  if new.budgets is null then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('budgets payer ' || new.payer, 0));
  if new.client is not null then
    perform pg_advisory_xact_lock(hashtextextended('budgets client ' || new.client, 0));
  end if;
  select * into spent
    from spent_budget(new.budgets, new.payer, new.client, new.receiver, new.placed_at);
  if found then
    raise exception 'order %: a budget is spent', new.id
      using errcode = 'check_violation', constraint = 'budget_spent', detail = to_jsonb(spent)::text;
  end if;
  new.budgets := null;
  return new;
end
$$;

create trigger check_budgets before insert on orders
  for each row execute function check_budgets();

-- No payer holds up the refund of another one. While somebody else waits, a payer is granted a quarter
-- of a cap at most, or one refund; and what would take the room of another's refund that has waited for
-- an hour waits behind it.
create or replace function allow_refund(wanted text, hour_cap numeric, day_cap numeric) returns text
language plpgsql as $$
declare
  is_stopped boolean;
  one orders;
  theirs numeric;
  others boolean;
  first_owed numeric;
  said text;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  if exists (select from refund_grants where order_id = wanted) then return 'granted'; end if;
  select * into one from orders
    where id = wanted and outcome = 'REFUND' and settlement = 'FINAL';
  if one.id is null then
    raise exception 'order %: it is not one whose money goes back', wanted;
  end if;
  said := allow_amount('refund', one.amount, hour_cap, day_cap);
  if said <> 'granted' then return said; end if;
  select count(*) > 0,
      (array_agg(due.amount order by due.changed_at)
        filter (where due.changed_at < now() - interval '1 hour' and due.changed_at < one.changed_at))[1]
    into others, first_owed
    from orders due
    where due.refund_state = 'REFUND_PENDING' and due.doc #>> '{refund,step}' = 'DUE'
      and due.settlement = 'FINAL' and due.payer <> one.payer
      and due.amount <= least(hour_cap, day_cap)
      and not exists (select from refund_grants where order_id = due.id);
  if others then
    select coalesce(sum(granted.amount), 0) into theirs
      from refund_grants granted join orders on orders.id = granted.order_id
      where granted.granted_at > now() - interval '1 hour' and orders.payer = one.payer;
    if theirs > 0 and (theirs + one.amount) * 4 > hour_cap then return 'payer_share'; end if;
  end if;
  if first_owed is not null
    and allow_amount('refund', one.amount + first_owed, hour_cap, day_cap) <> 'granted' then
    return 'payer_share';
  end if;
  insert into refund_grants values (wanted, one.amount, now());
  return 'granted';
end
$$;

-- What was never paid may be forgotten a day after that was proven, and nothing else: an order whose
-- payment failed, that has moved no money in its whole life.
create function never_paid(wanted text) returns boolean language sql volatile as $$
  select exists (
    select from orders where id = wanted and state = 'PAYMENT_FAILED'
      and finished_at < now() - interval '1 day'
      and not exists (select from ledger where order_id = wanted))
$$;

create function keep_what_was_paid() returns trigger language plpgsql as $$
begin
  if not never_paid(case when tg_table_name = 'orders' then to_jsonb(old) ->> 'id'
      else to_jsonb(old) ->> 'order_id' end) then
    raise exception '% keeps what was written: no delete', tg_table_name;
  end if;
  return old;
end
$$;

drop trigger keep_orders on orders;
create trigger keep_orders before truncate on orders
  for each statement execute function refuse_change();
create trigger keep_paid_orders before delete on orders
  for each row execute function keep_what_was_paid();
drop trigger keep_payments on payments;
create trigger keep_payments before update or truncate on payments
  for each statement execute function refuse_change();
create trigger keep_paid_payments before delete on payments
  for each row execute function keep_what_was_paid();
drop trigger keep_order_events on order_events;
create trigger keep_order_events before update or truncate on order_events
  for each statement execute function refuse_change();
create trigger keep_paid_events before delete on order_events
  for each row execute function keep_what_was_paid();

create index orders_never_paid on orders (finished_at) where state = 'PAYMENT_FAILED';

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

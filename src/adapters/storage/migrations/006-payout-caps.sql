-- What may be paid out, under the caps of an hour and a day. All grants lock one row, so they are made one after the
-- other, and turning the switch takes effect at once.
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

-- Everything that the caps count, each kind by itself: buyers who pay invoices late and too much all day hold up no
-- refund of an order.
create view grants as
  select 'refund' as kind, amount, granted_at from refund_grants
  union all
  select 'return', amount, granted_at from return_grants;

create function allow_amount(wanted text, owed numeric, hour_cap numeric, day_cap numeric)
returns text language plpgsql as $$
declare
  hour numeric;
  day numeric;
begin
  if owed > least(hour_cap, day_cap) then return 'over_cap'; end if;
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0),
      coalesce(sum(amount), 0)
    into hour, day from grants where kind = wanted and granted_at > now() - interval '1 day';
  if hour + owed > hour_cap then return 'hour_cap'; end if;
  if day + owed > day_cap then return 'day_cap'; end if;
  return 'granted';
end
$$;

-- What is granted of refunds within a time, with this one, to payers and clients that are granted more than one;
-- nothing while this one is the first of its payer and of its client.
create function repeated_grants(one orders, lasts interval) returns numeric
language sql stable as $$
  with given as (
    select granted.amount, theirs.payer, theirs.client, false as is_this
      from refund_grants granted join orders theirs on theirs.id = granted.order_id
      where granted.granted_at > now() - lasts
    union all
    select one.amount, one.payer, one.client, true
  ), counted as (
    select amount, is_this, count(*) over (partition by payer) > 1
      or client is not null and count(*) over (partition by client) > 1 as repeats
    from given
  )
  select case when bool_or(is_this and repeats) then sum(amount) filter (where repeats) else 0 end
  from counted
$$;

-- Refunds that wait and could be granted.
create function owed_refunds(hour_cap numeric, day_cap numeric) returns setof orders
language sql stable as $$
  select * from orders
  where refund_state = 'REFUND_PENDING' and doc #>> '{refund,step}' = 'DUE' and settlement = 'FINAL'
    and amount <= least(hour_cap, day_cap)
    and not exists (select from refund_grants where order_id = orders.id)
$$;

-- Half of each cap is for payers and clients that were granted nothing within its time. The other half is shared by the
-- rest: while somebody else waits, each has a quarter of an hour's cap at most.
create function is_beyond_share(one orders, hour_cap numeric, day_cap numeric) returns boolean
language plpgsql stable as $$
declare
  theirs numeric;
begin
  if repeated_grants(one, '1 hour') * 2 > hour_cap or repeated_grants(one, '1 day') * 2 > day_cap then
    return true;
  end if;
  select sum(granted.amount) into theirs
    from refund_grants granted join orders on orders.id = granted.order_id
    where granted.granted_at > now() - interval '1 hour'
      and (orders.payer = one.payer or orders.client = one.client);
  return theirs is not null and (theirs + one.amount) * 4 > hour_cap and exists (
    select from owed_refunds(hour_cap, day_cap) due
    where due.payer <> one.payer and coalesce(due.client <> one.client, true));
end
$$;

-- The amount and the payee are the order's own, so no caller can ask for others. Nobody holds up the refund of another
-- payer, whatever their order. What would take the room of another's refund that has waited for an hour waits behind
-- it, unless that one waits for its own share.
create function allow_refund(wanted text, hour_cap numeric, day_cap numeric) returns text
language plpgsql as $$
declare
  is_stopped boolean;
  one orders;
  due orders;
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
  if is_beyond_share(one, hour_cap, day_cap) then return 'payer_share'; end if;
  for due in
    select * from owed_refunds(hour_cap, day_cap)
    where payer <> one.payer and changed_at < one.changed_at
      and changed_at < now() - interval '1 hour'
    order by changed_at
  loop
    continue when is_beyond_share(due, hour_cap, day_cap);
    if allow_amount('refund', one.amount + due.amount, hour_cap, day_cap) <> 'granted' then
      return 'payer_share';
    end if;
    exit;
  end loop;
  insert into refund_grants values (wanted, one.amount, now());
  return 'granted';
end
$$;

-- The units, the address and the rate are the checkout's own, so no caller can ask for others. Their value is rounded
-- up.
create function allow_return(wanted text, wanted_seq integer, hour_cap numeric, day_cap numeric)
returns text language plpgsql as $$
declare
  is_stopped boolean;
  owed numeric;
  said text;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  if exists (select from return_grants where checkout_id = wanted and seq = wanted_seq) then
    return 'granted';
  end if;
  select div(one.units * checkouts.amount + invoice_units - 1, invoice_units) into owed
    from checkouts, checkout_returns(doc) as one
    where id = wanted and one.seq = wanted_seq and one.step = 'DUE';
  if owed is null then
    raise exception 'checkout %: return % is not one that is due', wanted, wanted_seq;
  end if;
  said := allow_amount('return', owed, hour_cap, day_cap);
  if said = 'granted' then insert into return_grants values (wanted, wanted_seq, owed, now()); end if;
  return said;
end
$$;

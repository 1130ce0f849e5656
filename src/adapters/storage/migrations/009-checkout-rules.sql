-- The life of a checkout and of its money, kept by the database too.

create function checkout_returns(doc jsonb)
returns table (seq integer, units numeric, why text, step text, transaction text)
language sql immutable as $$
  select (one ->> 'seq')::integer, (one #>> '{units,$bigint}')::numeric, one ->> 'why',
    one #>> '{step,type}', one #>> '{step,transaction}'
  from jsonb_array_elements(coalesce(doc -> 'returns', '[]')) as one
$$;

-- What the rules go by is read from the document itself, so that the two cannot differ.
create function read_checkout() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.version = old.version then return new; end if;
  new.invoice_id := new.doc #>> '{invoice,id}';
  new.invoice_units := (new.doc #>> '{invoice,units,$bigint}')::numeric;
  new.price := (new.doc #>> '{price,$bigint}')::numeric;
  new.is_placed := (new.doc ->> 'isPlaced')::boolean;
  select coalesce(sum((one #>> '{units,$bigint}')::numeric)
      filter (where one ->> 'status' = 'SETTLED'), 0),
    coalesce(array_agg(distinct lower(one ->> 'transaction')), '{}')
    into new.settled, new.transactions
    from jsonb_array_elements(coalesce(new.doc #> '{invoice,payments}', '[]')) as one;
  select coalesce(sum(units), 0), coalesce(sum(units) filter (where step = 'SENT'), 0),
    case when bool_or(step = 'FAILED') then 'FAILED' when bool_or(step <> 'SENT') then 'DUE' end
    into new.returning_units, new.returned, new.return_state
    from checkout_returns(new.doc);
  return new;
end
$$;

-- What the sums of a checkout may be, whatever it was before.
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

-- What a checkout may become.
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
      or was.step = 'SENT' and now.transaction is distinct from was.transaction
      or now.step <> was.step and (was.step, now.step) not in (
        ('DUE', 'SENDING'),
        ('DUE', 'FAILED'),
        ('SENDING', 'SENT'),
        ('SENDING', 'FAILED'),
        ('FAILED', 'DUE'))
    limit 1;
  if found then
    raise exception 'checkout %: return % cannot become this one', old.id, wrong;
  end if;
end
$$;

create function guard_checkout() returns trigger language plpgsql as $$
declare
  unleased checkouts := new;
  ungranted integer;
begin
  if tg_op = 'INSERT' then
    if new.state <> 'OPENING' then
      raise exception 'checkout %: it begins as OPENING', new.id;
    end if;
  elsif new.version = old.version then
    unleased.due_at := old.due_at;
    unleased.locked_until := old.locked_until;
    if unleased is distinct from old then
      raise exception 'checkout %: only its lease may change without a new version', old.id;
    end if;
    return new;
  else
    -- Of what is over only the personal fields go, in a version of their own.
    if old.finished_at is not null
      and not (new.doc = old.doc and new.recipient is null and old.recipient is not null) then
      raise exception 'checkout %: it is closed, for good', old.id;
    end if;
    perform check_checkout_move(old, new);
  end if;
  perform check_checkout_sums(new);
  select seq into ungranted from checkout_returns(new.doc) as one
    where step in ('SENDING', 'SENT')
      and not exists (select from return_grants where checkout_id = new.id and seq = one.seq)
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

-- In the order of their names: what is guarded was read before.
create trigger a_read_checkout before insert or update on checkouts
  for each row execute function read_checkout();
create trigger guard_checkout before insert or update on checkouts
  for each row execute function guard_checkout();

-- At every commit the books of a checkout say what its state says, and sum to zero.
create function check_checkout_books() returns trigger language plpgsql as $$
declare
  booked jsonb;
  expected jsonb;
  one checkouts;
  rest numeric;
  checked_id text := case when tg_table_name = 'checkout_ledger'
    then to_jsonb(new) ->> 'checkout_id' else to_jsonb(new) ->> 'id' end;
begin
  select * into one from checkouts where id = checked_id;
  rest := one.settled - coalesce(one.price, 0) - one.returned;
  select coalesce(jsonb_object_agg(account, sum), '{}') into expected from (values
    ('received', one.settled),
    ('price', -one.price),
    ('returned', -one.returned),
    (case when one.finished_at is null then 'due' else 'kept' end, -rest)) as due (account, sum)
    where sum <> 0;
  select coalesce(jsonb_object_agg(account, sum), '{}') into booked from (
    select account, sum(units) as sum from checkout_ledger where checkout_id = checked_id
    group by account having sum(units) <> 0) as sums;
  if booked <> expected then
    raise exception 'checkout %: its ledger says %, and its state says %',
      checked_id, booked, expected;
  end if;
  return null;
end
$$;

create constraint trigger check_books_of_checkout after update on checkouts
  deferrable initially deferred for each row
  when (new.version <> old.version) execute function check_checkout_books();
create constraint trigger check_books_of_checkout_entry after insert on checkout_ledger
  deferrable initially deferred for each row execute function check_checkout_books();

-- The life of a checkout and of its money, enforced by the database too.

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
  new.held_address := null;
  if tg_op = 'UPDATE' and new.finished_at is null then
    new.held_address := case when old.invoice_id is null
      then lower(new.doc #>> '{invoice,address}') else old.held_address end;
  end if;
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

-- The sums that any checkout must have, whatever it was before.
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

-- A client that begins checkouts and pays none takes addresses from everybody else where there are few of them, so its
-- unpaid ones are counted, from the checkouts themselves. A refused checkout has had the processor make invoices in
-- vain, so it counts as well, for an hour. The checkouts of a client are opened one after the other, so that those that
-- are sent at once are counted. The same form sent again is no new one: it runs into its index.
create function bound_unpaid_checkouts() returns trigger language plpgsql as $$
declare
  waiting integer;
begin
  if tg_op = 'UPDATE' then
    if new.state = 'ORDERED' or (new.finished_at is not null and new.state <> 'REFUSED') then
      new.client := null;
    end if;
    return new;
  end if;
  if new.unpaid is null then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('unpaid checkouts ' || new.client, 0));
  select count(*) into waiting from checkouts
    where client = new.client and coin = new.coin and (new.unpaid -> 'states' ? state
        or state = 'REFUSED' and finished_at > now() - interval '1 hour')
      and coalesce(doc #>> '{invoice,status}', 'NEW') not in ('PROCESSING', 'SETTLED');
  if waiting >= (new.unpaid ->> 'most')::integer and not exists (
    select from checkouts
    where id = new.id or form_key = new.form_key and state <> 'REFUSED') then
    raise exception 'checkout %: % unpaid ones are open', new.id, waiting
      using errcode = 'check_violation', constraint = 'unpaid_checkouts', detail = waiting::text;
  end if;
  new.unpaid := null;
  return new;
end
$$;

-- In the order of their names: what is guarded was read before.
create trigger a_read_checkout before insert or update on checkouts
  for each row execute function read_checkout();
create trigger b_bound_unpaid_checkouts before insert or update on checkouts
  for each row execute function bound_unpaid_checkouts();
create trigger guard_checkout before insert or update on checkouts
  for each row execute function guard_checkout();

-- At every commit the entries of a checkout say what its state says, and sum to zero.
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

-- An invoice pays the one order that its checkout has decided on: its price, and refunds to the address that its buyer
-- gave. The payer is the coin and that address, so it is no wallet, has no limits and cannot sign in.
create function check_invoice() returns trigger language plpgsql as $$
declare
  paid checkouts;
begin
  select * into paid from checkouts
    where order_id = new.id and state = 'ORDERED' and id = new.doc #>> '{tender,nonce}';
  if paid.id is null then
    raise exception 'order %: no checkout has decided that its invoice pays it', new.id;
  end if;
  if (new.amount, new.kind, new.offer_id, new.payer)
      is distinct from
      (paid.amount, paid.kind, paid.offer_id, lower(paid.coin || ':' || paid.refund_to))
    or (new.doc #>> '{tender,amount,$bigint}')::numeric is distinct from paid.amount
    or (new.doc #>> '{tender,units,$bigint}')::numeric is distinct from paid.price
    or (new.doc #>> '{tender,invoice}', new.doc #>> '{tender,asset}')
      is distinct from (paid.invoice_id, paid.coin) then
    raise exception 'order %: it is not the order that its checkout decided on', new.id;
  end if;
  return null;
end
$$;

create trigger check_invoice after insert on orders for each row
  when (new.doc #>> '{tender,rail}' = 'btcpay') execute function check_invoice();

-- Most checkouts are opened and never paid. They move no money, so the books do not need them: they are deleted with
-- their events 90 days after they were closed, when the processor has long stopped watching their addresses.
create function was_never_paid(one checkouts) returns boolean language sql stable as $$
  select one.state in ('REFUSED', 'ENDED') and one.finished_at < now() - interval '90 days'
    and coalesce(one.doc #> '{invoice,payments}', '[]') = '[]'
    and not exists (select from checkout_ledger where checkout_id = one.id)
$$;

create function forget_unpaid_checkouts(before timestamptz, most integer) returns integer
language plpgsql as $$
declare
  gone text[];
begin
  select array_agg(id) into gone from (
    select one.id from checkouts one
    where one.state in ('REFUSED', 'ENDED') and one.settled = 0 and one.finished_at < before
      and was_never_paid(one)
    order by one.finished_at limit most for update skip locked) as due;
  delete from checkout_events where checkout_id = any (gone);
  delete from checkouts where id = any (gone);
  return coalesce(cardinality(gone), 0);
end
$$;

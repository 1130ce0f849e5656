-- An address that was shown for a checkout is that checkout's until it is closed for good: what comes
-- to it late is still that buyer's. Some plugins of the processor have a fixed list of addresses and
-- hand them out again, and a processor that was restored from a backup may do the same.
--
-- Kept in a column of its own, which is set with the invoice and emptied with the closing: checkouts
-- from before this rule that share an address keep it, and can still be finished.
alter table checkouts add column held_address text;

create or replace function read_checkout() returns trigger language plpgsql as $$
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

alter table checkouts disable trigger user;
update checkouts set held_address = held.address
  from (
    select distinct on (coin, lower(doc #>> '{invoice,address}'))
      id as held_id, lower(doc #>> '{invoice,address}') as address
    from checkouts where finished_at is null and invoice_id is not null
    order by coin, lower(doc #>> '{invoice,address}'), started_at, id
  ) as held
  where id = held.held_id;
alter table checkouts enable trigger user;

create unique index checkouts_held_address on checkouts (coin, held_address)
  where held_address is not null;

-- What the processor was seen to have of each payout. A processor that has forgotten one, because its
-- database was restored from a backup, may have sent it: its list is not the only memory.
create table processor_payouts (
  reference text primary key,
  -- The processor's own ids. What was seen once stays.
  pull_payments text[] not null default '{}',
  payouts text[] not null default '{}',
  -- Since when the processor has it and does not finish it, and when an operator was told so.
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

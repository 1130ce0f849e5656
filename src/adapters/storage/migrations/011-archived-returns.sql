-- Checkouts that became no order move to the archive too: their money went back, so the books need of each only its
-- closing line, its invoice and its payments. Those that nobody paid are deleted (005-checkout-rules.sql).
-- A version that does not know it goes on to move orders, with their checkouts, and only those.

-- The file of a checkout without an order; that of the others is their order's.
alter table archived_checkouts add column archive bigint references archives (id);

create function returns_are_over(one checkouts) returns boolean language sql stable as $$
  select one.state = 'ENDED' and one.finished_at < now() - interval '90 days'
    and one.recipient is null and one.client is null and not was_never_paid(one)
    and not exists (select from processor_payouts where waits_since is not null
      and reference in (select one.id || '-' || seq from checkout_returns(one.doc)))
$$;

-- Moves those of these checkouts that may move and are as they were written to the file. All of a call count, or none.
create function move_returns_to_archive(into_archive bigint, ids text[], versions integer[]) returns integer
language plpgsql as $$
declare
  moved text[];
begin
  select array_agg(id) into moved from (
    select one.id from checkouts one join unnest(ids, versions) as written (id, version)
      on one.id = written.id and one.version = written.version
    where returns_are_over(one) order by one.id for update of one) as picked;
  insert into archived_checkouts (id, archive) select id, into_archive from unnest(moved) as id;
  delete from return_grants where checkout_id = any (moved);
  delete from checkout_ledger where checkout_id = any (moved);
  delete from checkout_events where checkout_id = any (moved);
  delete from checkouts where id = any (moved);
  return coalesce(cardinality(moved), 0);
end
$$;

-- The row is the checkout's own, whoever inserts it. A checkout without an order has a price of nothing, as its line
-- in the books has.
create or replace function guard_archived_checkout() returns trigger language plpgsql as $$
declare
  one checkouts;
begin
  select * into one from checkouts where id = new.id for update;
  if one.id is null or not (
    new.archive is null and is_at_rest(one) and exists (select from archived_orders where id = one.order_id)
    or new.archive is not null and returns_are_over(one)) then
    raise exception 'checkout %: it may not be archived', new.id;
  end if;
  if exists (select from archives where id = new.archive and done_at is not null) then
    raise exception 'checkout %: its archive is closed', new.id;
  end if;
  new.order_id := one.order_id;
  new.coin := one.coin;
  new.refund_to := one.refund_to;
  new.received := one.settled;
  new.price := coalesce(one.price, 0);
  new.returned := one.returned;
  new.address := lower(one.doc #>> '{invoice,address}');
  new.transactions := one.transactions;
  new.doc := (one.doc - 'subjects') || jsonb_build_object(
    'fingerprint', '', 'accessTokenHash', '', 'formKeyHash', '',
    'price', jsonb_build_object('$bigint', coalesce(one.price, 0)::text),
    'item', jsonb_build_object('kind', one.kind, 'offerId', '', 'brandName', ''),
    'invoice', one.doc -> 'invoice' || '{"paymentLink": ""}');
  return new;
end
$$;

-- At the commit a checkout is in one place.
create function check_archived_checkout() returns trigger language plpgsql as $$
begin
  if exists (select from checkouts where id = new.id)
    or exists (select from checkout_ledger where checkout_id = new.id) then
    raise exception 'checkout %: it is archived in part', new.id;
  end if;
  return null;
end
$$;

create constraint trigger check_archived_checkout after insert on archived_checkouts
  deferrable initially deferred for each row execute function check_archived_checkout();

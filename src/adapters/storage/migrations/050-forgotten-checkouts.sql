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

-- What was archived or never paid may go from the tables, and nothing else.
create or replace function keep_open_checkout() returns trigger language plpgsql as $$
declare
  its_checkout text := case when tg_table_name = 'checkouts' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'checkout_id' end;
begin
  if exists (select from archived_checkouts where id = its_checkout)
    or exists (select from checkouts one where id = its_checkout and was_never_paid(one)) then
    return old;
  end if;
  raise exception '% keeps what was written: no delete', tg_table_name;
end
$$;

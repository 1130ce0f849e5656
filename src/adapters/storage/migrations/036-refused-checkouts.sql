-- A checkout that is refused has had the processor make invoices in vain, so it counts for its client
-- as an unpaid one does, for an hour. Its client is forgotten with its personal fields.
create or replace function bound_unpaid_checkouts() returns trigger language plpgsql as $$
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

-- Whoever begins checkouts and pays none takes addresses from everybody else where there are few of
-- them, so the unpaid ones of a client are counted, from the checkouts themselves.
alter table checkouts
  -- The client that began it, as a keyed digest. Forgotten when it is paid, refused or closed.
  add column client text,
  -- Told with a new checkout to the check below, which does not let it be kept.
  add column unpaid jsonb constraint checkouts_keep_no_bound check (unpaid is null);

create index checkouts_by_client on checkouts (client, coin) where client is not null;

-- Those of a client are opened one after the other, so that those that are sent at once are counted.
-- The same form sent again is no new one: it runs into its index.
create function bound_unpaid_checkouts() returns trigger language plpgsql as $$
declare
  waiting integer;
begin
  if tg_op = 'UPDATE' then
    if new.state in ('REFUSED', 'ORDERED') or new.finished_at is not null then
      new.client := null;
    end if;
    return new;
  end if;
  if new.unpaid is null then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('unpaid checkouts ' || new.client, 0));
  select count(*) into waiting from checkouts
    where client = new.client and coin = new.coin and new.unpaid -> 'states' ? state
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

create trigger b_bound_unpaid_checkouts before insert or update on checkouts
  for each row execute function bound_unpaid_checkouts();

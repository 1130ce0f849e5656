-- A checkout that was never paid may be deleted, and nothing else.
create function keep_open_checkout() returns trigger language plpgsql as $$
declare
  its_checkout text := case when tg_table_name = 'checkouts' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'checkout_id' end;
begin
  if exists (select from checkouts one where id = its_checkout and was_never_paid(one)) then
    return old;
  end if;
  raise exception '% keeps what was written: no delete', tg_table_name;
end
$$;

create trigger keep_open_checkouts before delete on checkouts
  for each row execute function keep_open_checkout();
create trigger keep_checkouts before truncate on checkouts
  for each statement execute function refuse_change();
create trigger keep_open_checkout_events before delete on checkout_events
  for each row execute function keep_open_checkout();
create trigger keep_checkout_events before update or truncate on checkout_events
  for each statement execute function refuse_change();
create trigger keep_open_checkout_ledger before delete on checkout_ledger
  for each row execute function keep_open_checkout();
create trigger keep_checkout_ledger before update or truncate on checkout_ledger
  for each statement execute function refuse_change();
create trigger keep_open_return_grants before delete on return_grants
  for each row execute function keep_open_checkout();
create trigger keep_return_grants before update or truncate on return_grants
  for each statement execute function refuse_change();

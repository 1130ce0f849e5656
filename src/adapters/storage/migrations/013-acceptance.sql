-- What a supplier has accepted is never forgotten: not asked for again, and not given up because the
-- supplier is silent. By its name it runs after guard_order.
create function guard_order_supply() returns trigger language plpgsql as $$
begin
  if new.doc -> 'acceptedAt' is distinct from old.doc -> 'acceptedAt' then
    raise exception 'order %: the supplier has accepted it, for good', old.id;
  end if;
  if new.doc -> 'askedAgainAt' is distinct from old.doc -> 'askedAgainAt' then
    raise exception 'order %: the supplier has accepted it, and is not asked again', old.id;
  end if;
  if old.state = 'FULFILLING' and new.doc #>> '{failure,trigger}' = 'upstream_timeout' then
    raise exception 'order %: the supplier has accepted it, so its silence is no answer', old.id;
  end if;
  return new;
end
$$;

create trigger guard_order_supply before update on orders for each row
  when (new.version <> old.version and old.doc ? 'acceptedAt')
  execute function guard_order_supply();

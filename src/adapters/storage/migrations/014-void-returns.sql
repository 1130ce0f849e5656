-- Nothing is owed for a return whose payment vanished before anybody could pay it: it claims no money, and keeps no
-- checkout open.
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
    from jsonb_array_elements(coalesce(new.doc -> 'returns', '[]')) as one,
      lateral (select (one #>> '{units,$bigint}')::numeric as units, one #>> '{step,type}' as step)
        as parsed
    where one #>> '{step,code}' is distinct from 'payment_vanished';
  return new;
end
$$;

-- What everybody has at risk was summed up twice for every purchase, over every open order: among ten thousand of them
-- a purchase took three times as long. Mostly so little is at risk that everybody may buy, and to know that an upper
-- bound is enough: what was at risk when it was summed up last, and every order in USDC opened since.
create table most_at_risk (
  only_one boolean primary key default true check (only_one),
  amount numeric not null,
  summed_at timestamptz not null
);

-- The first purchase sums it up.
insert into most_at_risk (amount, summed_at) values (0, '-infinity');

create trigger keep_most_at_risk before delete or truncate on most_at_risk
  for each statement execute function refuse_change();

create function note_at_risk() returns trigger language plpgsql as $$
begin
  update most_at_risk set amount = amount + new.amount;
  return null;
end
$$;

create trigger note_at_risk after insert on orders for each row
  when (new.doc #>> '{tender,rail}' = 'x402') execute function note_at_risk();

-- Whether this purchase may exceed anybody's share: not while the bound leaves half of the float.
create function may_exceed_a_share(held numeric, asked numeric) returns boolean language sql stable as $$
  select coalesce(
    (select (amount + asked) * 2 > held or summed_at = '-infinity' from most_at_risk), true)
$$;

-- Orders that are counted here are opened one after the other. The row is locked before the sum, so that the sum has
-- every order whose addition it replaces.
create or replace function check_a_share() returns trigger language plpgsql as $$
declare
  held numeric := (new.budgets ->> 'float')::numeric;
  exceeded record;
begin
  perform pg_advisory_xact_lock(hashtextextended('shares of the float', 0));
  if exists (select from most_at_risk where summed_at < clock_timestamp() - interval '2 seconds') then
    perform from most_at_risk for update;
    update most_at_risk set amount = (select coalesce(sum(amount), 0) from at_risk()),
      summed_at = clock_timestamp();
  end if;
  if not may_exceed_a_share(held, new.amount) then return new; end if;
  select * into exceeded from exceeded_share(held, new.payer, new.client, new.amount);
  if found then
    raise exception 'order %: too much is at risk', new.id
      using errcode = 'check_violation', constraint = 'budget_spent', detail = to_jsonb(exceeded)::text;
  end if;
  return new;
end
$$;

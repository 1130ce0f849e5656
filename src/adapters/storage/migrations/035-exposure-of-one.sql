-- What one payer and one client have open, or were paid back within a day, comes to no more than their
-- share of what the refund wallet holds: failing orders cost their buyer nothing, and would otherwise
-- empty the wallet or pause the store for everybody.
create function spent_exposure(most jsonb, of_payer text, of_client text, asked numeric)
returns table (budget text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with theirs as (
    select 'payer' as whose, o.* from orders o
      where o.payer = of_payer and o.outcome is distinct from 'DELIVER'
    union all
    select 'client', o.* from orders o
      where o.client = of_client and o.client is not null and o.outcome is distinct from 'DELIVER'
  ), sums as (
    select whose, sum(amount) as held, bool_or(finished_at is null) as is_open,
      min(finished_at) as first_finished
    from theirs
    where state <> 'PAYMENT_FAILED' and settlement is distinct from 'LOST'
      and doc #>> '{tender,rail}' = 'x402'
      and (finished_at is null or finished_at > now() - interval '1 day')
    group by whose
  )
  select 'exposure', whose, case when is_open then 60 else greatest(1,
      ceil(extract(epoch from first_finished + interval '1 day' - now())))::int end
  from sums where held + asked > (most ->> whose)::numeric
  order by 3 desc limit 1;
end
$$;

-- By its name it runs before the budgets are looked at, which are forgotten then, under the same locks.
create function check_a_exposure() returns trigger language plpgsql as $$
declare
  spent record;
begin
  perform pg_advisory_xact_lock(hashtextextended('budgets payer ' || new.payer, 0));
  if new.client is not null then
    perform pg_advisory_xact_lock(hashtextextended('budgets client ' || new.client, 0));
  end if;
  select * into spent
    from spent_exposure(new.budgets -> 'exposure', new.payer, new.client, new.amount);
  if found then
    raise exception 'order %: too much is at risk', new.id
      using errcode = 'check_violation', constraint = 'budget_spent', detail = to_jsonb(spent)::text;
  end if;
  return new;
end
$$;

create trigger check_a_exposure before insert on orders for each row
  when (new.budgets ? 'exposure') execute function check_a_exposure();

-- Shares of what refunds are paid from, in the place of fixed parts of what the refund wallet holds now:
-- failing orders cost their buyer nothing, and must not empty the wallet or pause the store for others.
drop trigger check_a_exposure on orders;
drop function check_a_exposure();
drop function spent_exposure(jsonb, text, text, numeric);

create index ledger_refunded_by_time on ledger (at) include (order_id) where account = 'refunded';
create index orders_awaiting_payment on orders (amount) where state = 'PAYMENT_PENDING';

-- What is open in USDC, or was paid back within an hour: it is at risk.
create function at_risk() returns table (payer text, client text, amount numeric, paid_back_at timestamptz)
language sql stable as $$
  select payer, client, amount, null::timestamptz from orders
    where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
      and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
      and doc #>> '{tender,rail}' = 'x402'
  union all
  select payer, client, amount, null from orders
    where state = 'PAYMENT_PENDING' and doc #>> '{tender,rail}' = 'x402'
  union all
  select payer, client, o.amount, booked.at from ledger booked join orders o on o.id = booked.order_id
    where booked.account = 'refunded' and booked.at > now() - interval '1 hour'
      and o.refund_state = 'REFUNDED' and o.settlement is distinct from 'LOST'
      and o.doc #>> '{tender,rail}' = 'x402'
$$;

-- Whose share this purchase exceeds. The whole is the float with what was paid back from it within the
-- hour, so that nobody's share shrinks by refunds. Half of it is for whatever comes first. As far as five
-- eighths, the one order that was paid back to a payer may be tried again. The rest is for payers and
-- clients with little at risk: a sixteenth of the whole while the others leave a quarter of it free, and
-- then an eighth of what they leave free.
create function exceeded_share(held numeric, of_payer text, of_client text, asked numeric)
returns table (budget text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with risks as materialized (select * from at_risk()),
  store as (
    select coalesce(sum(amount), 0) as risked,
      held + coalesce(sum(amount) filter (where paid_back_at is not null), 0) as whole,
      case when bool_or(paid_back_at is null) then 60 else greatest(1,
        ceil(extract(epoch from min(paid_back_at) + interval '1 hour' - now())))::int end as wait_seconds
    from risks
  ), own as (
    select 'payer' as whose, coalesce(sum(amount), 0) as risked,
      count(*) = 1 and bool_and(paid_back_at is not null and amount >= asked) as is_retry
    from risks where payer = of_payer
    union all
    select 'client', coalesce(sum(amount), 0), false
    from risks where client = of_client having of_client is not null
  ), others as (
    select own.*, store.whole, store.wait_seconds, store.whole - store.risked + own.risked as free
    from own, store
    where (store.risked + asked) * 2 > store.whole
      and not ((store.risked + asked) * 8 <= store.whole * 5 and (select bool_or(is_retry) from own))
  )
  select 'exposure', whose, wait_seconds from others
  where risked + asked > case when free * 4 >= whole then whole / 16 else free / 8 end
  order by whose desc limit 1;
end
$$;

-- By its name it runs before the budgets are looked at, which are forgotten then. All that are counted
-- come one after the other, because each counts what everybody has at risk.
create function check_a_share() returns trigger language plpgsql as $$
declare
  exceeded record;
begin
  perform pg_advisory_xact_lock(hashtextextended('shares of the float', 0));
  select * into exceeded
    from exceeded_share((new.budgets ->> 'float')::numeric, new.payer, new.client, new.amount);
  if found then
    raise exception 'order %: too much is at risk', new.id
      using errcode = 'check_violation', constraint = 'budget_spent', detail = to_jsonb(exceeded)::text;
  end if;
  return new;
end
$$;

create trigger check_a_share before insert on orders for each row
  when (new.budgets ? 'float') execute function check_a_share();

-- A transaction that was sent for a payment and reverted is noted with its order, and has a budget: each
-- counts from when its order was placed.
create or replace function spent_budget(rules jsonb, of_payer text, of_client text, of_receiver text, at timestamptz)
returns table (budget text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with theirs as (
    select 'payer' as whose, o.placed_at, o.state = 'PAYMENT_PENDING' as is_open, o.outcome, o.state, o.doc
      from orders o where o.payer = of_payer and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
    union all
    select 'client', o.placed_at, o.state = 'PAYMENT_PENDING', o.outcome, o.state, o.doc
      from orders o where o.client = of_client and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
    union all
    select 'receiver', o.placed_at, false, o.outcome, o.state, o.doc
      from orders o where o.receiver = of_receiver and o.outcome is distinct from 'DELIVER'
        and o.placed_at > at - (rules ->> 'windowMs')::numeric * interval '1 ms'
  ), counted as (
    select whose, placed_at, is_open,
      case when outcome = 'REFUND' then 'failed_orders' else 'unpaid_payments' end as budget
    from theirs where outcome = 'REFUND' or state in ('PAYMENT_PENDING', 'PAYMENT_FAILED')
    union all
    select whose, placed_at, false, 'reverts'
    from theirs, generate_series(1, (doc ->> 'reverts')::int)
  ), sums as (
    select counted.budget, counted.whose, count(*)::int as orders, bool_or(is_open) as is_open,
      array_agg(placed_at order by placed_at) as times
    from counted group by counted.budget, counted.whose
  ), limited as (
    select sums.*, (rules -> 'most' -> sums.whose ->> sums.budget)::int as most from sums
  )
  select limited.budget, limited.whose, case when limited.is_open then 5 else greatest(1, ceil(extract(epoch from
      times[orders - most + 1] + (rules ->> 'windowMs')::numeric * interval '1 ms' - at)))::int end
  from limited where orders >= most
  order by 3 desc limit 1;
end
$$;

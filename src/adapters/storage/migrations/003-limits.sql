-- What may be opened: the limits that a wallet has set itself, the approvals of persons, the budgets of those who do
-- not pay or whose orders fail, and the shares of the float.

-- The rules of a wallet in force, and looser ones with the time from which they hold. Amounts are atomic USDC as text;
-- a recipient is a keyed digest. An absent rule limits nothing.
create table wallet_limits (
  wallet text primary key check (wallet = lower(wallet)),
  -- Identifies the write that made these limits. A write that does not name the last one is refused.
  revision uuid not null,
  in_force jsonb not null check (jsonb_typeof(in_force) = 'object'),
  coming jsonb check (jsonb_typeof(coming) = 'object'),
  coming_from timestamptz,
  constraint wallet_limits_coming_at_a_time check ((coming is null) = (coming_from is null))
);

create index wallet_limits_lifted on wallet_limits (coming_from) where coming = '{}';

-- Limits may be lifted one by one, and never all at once.
create trigger keep_wallet_limits before truncate on wallet_limits
  for each statement execute function refuse_change();

-- What persons are asked to approve before it is charged (docs/contributors/decisions/020-approvals.md): one purchase
-- of one wallet each. It is used by one order, and deleted a day after its end.
create table approvals (
  id uuid primary key,
  -- SHA-256 of the token that opens its page.
  token_hash text not null unique,
  payer text not null check (payer = lower(payer)),
  -- Keyed digest of what is asked for.
  purchase text not null,
  amount numeric not null,
  most numeric not null check (most >= amount),
  -- Sealed: what is bought, in words.
  bought text not null,
  asked_at timestamptz not null,
  decision text check (decision in ('APPROVED', 'DECLINED')),
  ends_at timestamptz not null,
  used_by text,
  constraint approvals_used_when_approved
    check (used_by is null or decision is not distinct from 'APPROVED')
);

create index approvals_by_purchase on approvals (payer, purchase);
create index approvals_by_order on approvals (used_by) where used_by is not null;
create index approvals_by_end on approvals (ends_at);

-- No order is opened beyond the limits of its payer, whatever the code above does. The row of the wallet is locked
-- first, so two purchases of one wallet are checked one after the other, and the sum is read after the lock, so the
-- second one sees the first. Where there is no row to lock yet, a lock on its name keeps the first limits waiting for
-- the purchases that could not know of them. The day is the last 24 hours by the clock that placed the order, as are
-- the times of the orders it counts. What costs more than the wallet allows alone needs an approval that was used for
-- this very order.
create function wallet_limits_lock(wallet text) returns bigint language sql immutable as $$
  select hashtextextended('wallet_limits ' || wallet, 0)
$$;

create function check_wallet_limits() returns trigger language plpgsql as $$
declare
  held wallet_limits;
  rules jsonb;
  spent numeric;
  hit text;
begin
  -- What a rebuilt record opens again was allowed, and paid, when it was placed.
  if current_setting('kiosk402.rebuilding', true) = 'on' then return new; end if;
  perform pg_advisory_xact_lock_shared(wallet_limits_lock(new.payer));
  select * into held from wallet_limits where wallet = new.payer for update;
  if found then
    rules := case when held.coming_from <= new.placed_at then held.coming else held.in_force end;
    hit := case
      when rules ? 'kinds' and not rules -> 'kinds' ? new.kind then 'kinds'
      when rules ? 'countries'
        and not coalesce(rules -> 'countries' ? (new.doc #>> '{item,country}'), false)
        then 'countries'
      when rules ? 'recipients' and not coalesce(rules -> 'recipients' ? new.recipient_digest, false)
        then 'recipients'
      when new.amount > (rules ->> 'perOrder')::numeric then 'per_order'
    end;
    if hit is null and rules ? 'perDay' then
      select coalesce(sum(amount), 0) into spent from orders
        where payer = new.payer and placed_at > new.placed_at - interval '24 hours'
          and state <> 'PAYMENT_FAILED' and refund_state is distinct from 'REFUNDED'
          and settlement is distinct from 'LOST';
      if spent + new.amount > (rules ->> 'perDay')::numeric then hit := 'per_day'; end if;
    end if;
    if hit is null and new.amount > (rules ->> 'approveAbove')::numeric
      and not exists (select from approvals
        where used_by = new.id and payer = new.payer and most >= new.amount)
      then hit := 'approve_above';
    end if;
    if hit is not null then
      raise exception 'order %: the limits of its payer do not allow it', new.id
        using errcode = 'check_violation', constraint = 'wallet_limit_' || hit;
    end if;
  end if;
  new.recipient_digest := null;
  return new;
end
$$;

create trigger check_wallet_limits before insert on orders
  for each row execute function check_wallet_limits();

-- Budgets are counted from the orders themselves, so that nothing is counted twice and nothing has to be given back:
-- orders without payment, failed orders and reverted transactions within the window, by when the order was placed.
-- Answers with the budget that is exhausted for longest, and the seconds until it is not. A payment that is still open
-- may end at any moment.
create function spent_budget(rules jsonb, of_payer text, of_client text, of_receiver text, at timestamptz)
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

-- The orders of a payer, and those of a client, are opened one after the other, so that those that are sent at once
-- are counted. By its name it runs before the limits of the payer are checked.
create function check_budgets() returns trigger language plpgsql as $$
declare
  spent record;
begin
  if new.budgets is null then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('budgets payer ' || new.payer, 0));
  if new.client is not null then
    perform pg_advisory_xact_lock(hashtextextended('budgets client ' || new.client, 0));
  end if;
  select * into spent
    from spent_budget(new.budgets, new.payer, new.client, new.receiver, new.placed_at);
  if found then
    raise exception 'order %: a budget is spent', new.id
      using errcode = 'check_violation', constraint = 'budget_spent', detail = to_jsonb(spent)::text;
  end if;
  new.budgets := null;
  return new;
end
$$;

create trigger check_budgets before insert on orders
  for each row execute function check_budgets();

-- Failing orders cost their buyer nothing, and must not empty the refund wallet or pause the store for others. At risk
-- is what is open in USDC or was refunded within an hour.
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

-- Whose share of the float this purchase exceeds. The whole is the float with what was refunded from it within the
-- hour, so that nobody's share shrinks by refunds. The first half of it is for all orders. Up to five eighths, the one
-- order that was refunded to a payer may be tried again. The rest is for payers and clients with little at risk: a
-- sixteenth of the whole while the others leave a quarter of it free, and then an eighth of what they leave free.
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

-- By its name it runs before the budgets are checked, which are cleared then. Orders that are counted here are opened
-- one after the other, because each counts what everybody has at risk.
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

-- These run at every purchase, on a few rows found by index. Planning them anew took longer than running them, so each
-- connection plans them once.
alter function spent_budget(jsonb, text, text, text, timestamptz) set plan_cache_mode = force_generic_plan;
alter function exceeded_share(numeric, text, text, numeric) set plan_cache_mode = force_generic_plan;

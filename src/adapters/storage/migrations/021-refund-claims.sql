-- Claims cost a row each, and one of a failed refund tries it again, so they have budgets. A claim is
-- used up once its order has moved on from the version that it met.
alter table refund_claims
  -- The client that sent it, as a keyed digest.
  add column client text,
  add column version integer not null default 0;

create index refund_claims_by_client on refund_claims (client, created_at) where client is not null;
create index refund_claims_by_age on refund_claims (created_at);

-- Keeps a claim that is new, if there is room in the budgets of its order and of its client. Those of
-- one order, and those of one client, are kept one after the other.
create function keep_refund_claim(
  wanted text, of_version integer, of_key text, of_body text, of_client text, rules jsonb
) returns table (use text, whose text, wait_seconds integer) language plpgsql as $$
#variable_conflict use_column
declare
  earlier refund_claims;
  lasts interval := (rules ->> 'windowMs')::numeric * interval '1 ms';
begin
  perform pg_advisory_xact_lock(hashtextextended('claims order ' || wanted, 0));
  if of_client is not null then
    perform pg_advisory_xact_lock(hashtextextended('claims client ' || of_client, 0));
  end if;
  select * into earlier from refund_claims where order_id = wanted and key = of_key;
  if found then
    return query select case when earlier.body_hash <> of_body then 'other_body'
      when earlier.version < of_version then 'used' else 'fresh' end, null::text, null::integer;
    return;
  end if;
  return query
    with counted as (
      select 'order' as whose, created_at from refund_claims
        where order_id = wanted and created_at > now() - lasts
      union all
      select 'client', created_at from refund_claims
        where client = of_client and created_at > now() - lasts
    ), sums as (
      select whose, array_agg(created_at order by created_at) as times,
        (rules -> 'most' -> whose ->> 'refund_claims')::int as most
      from counted group by whose
    )
    select 'spent', whose,
      greatest(1, ceil(extract(epoch from times[cardinality(times) - most + 1] + lasts - now())))::int
    from sums where cardinality(times) >= most
    order by 3 desc limit 1;
  if found then return; end if;
  insert into refund_claims (order_id, key, body_hash, created_at, client, version)
    values (wanted, of_key, of_body, now(), of_client, of_version);
  return query select 'fresh', null::text, null::integer;
end
$$;

-- What persons are asked to approve before it is charged (docs/contributors/decisions/020-approvals.md):
-- one purchase of one wallet each. It is used by one order, and forgotten a day after its end.
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

-- As before (007-wallet-limits.sql). What costs more than the wallet lets pass alone has an approval
-- that was used for this very order.
create or replace function check_wallet_limits() returns trigger language plpgsql as $$
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

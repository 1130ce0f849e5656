-- What a wallet lets itself buy: the rules in force, and looser ones with the time from which they
-- hold. Amounts are atomic USDC as text; a recipient is a keyed digest. An absent rule limits nothing.
create table wallet_limits (
  wallet text primary key check (wallet = lower(wallet)),
  -- Names the write that made these limits. One that does not know the last one is refused.
  revision uuid not null,
  in_force jsonb not null check (jsonb_typeof(in_force) = 'object'),
  coming jsonb check (jsonb_typeof(coming) = 'object'),
  coming_from timestamptz,
  constraint wallet_limits_coming_at_a_time check ((coming is null) = (coming_from is null))
);

create index wallet_limits_lifted on wallet_limits (coming_from) where coming = '{}';

-- Told with a new order to the check below, which does not let it be kept.
alter table orders add column recipient_digest text
  constraint orders_keep_no_recipient_digest check (recipient_digest is null);

-- No order is opened beyond the limits of its payer, whatever the code above does. The row of the
-- wallet is locked first, so two purchases of one wallet are looked at one after the other, and the
-- sum is read after the lock, so the second one sees the first. Where there is no row to lock yet, a
-- lock on its name keeps the first limits waiting for the purchases that could not know of them.
-- The day is the last 24 hours by the clock that placed the order, as are the times of those it counts.
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

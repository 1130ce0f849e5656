-- Buyers may name a webhook with a purchase. What changes about their order is kept here by the write that changes it,
-- until it is delivered (docs/contributors/decisions/019-buyer-webhooks.md). All of it goes with the order.
create table order_webhooks (
  order_id text primary key references orders (id) on delete cascade,
  payer text not null,
  -- Keyed digest of the host.
  receiver text not null,
  -- The URL and the signing secret, sealed.
  target text not null,
  state text not null default 'active' check (state in ('active', 'over_limit', 'gone')),
  opened_at timestamptz not null default now(),
  redelivered_at timestamptz
);

create index order_webhooks_payer on order_webhooks (payer, opened_at);

create table webhook_events (
  id text primary key default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  order_id text not null references order_webhooks (order_id) on delete cascade,
  -- The version of the order.
  seq integer not null,
  type text not null,
  at timestamptz not null default now(),
  data jsonb not null,
  attempts integer not null default 0,
  attempted_at timestamptz,
  answer text,
  delivered_at timestamptz,
  -- Null once nothing is left to do.
  due_at timestamptz,
  give_up_at timestamptz not null,
  locked_until timestamptz not null default now(),
  unique (order_id, seq)
);

create index webhook_events_due on webhook_events (due_at) where due_at is not null;

-- The webhooks of a payer are opened one after the other, so that those that are sent at once are counted. One that is
-- too many is kept and gets nothing: the purchase goes on.
create function limit_webhooks() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks payer ' || new.payer, 0));
  if (select count(*) from order_webhooks
      where payer = new.payer and opened_at > now() - interval '1 hour' and state <> 'over_limit') >= 60
    or (select count(*) from order_webhooks join webhook_events using (order_id)
      where payer = new.payer and due_at is not null) >= 200 then
    new.state := 'over_limit';
  end if;
  return new;
end
$$;

create trigger limit_webhooks before insert on order_webhooks
  for each row execute function limit_webhooks();

-- By a trigger, so that the writes of a neighbouring version of the store are told too.
create function note_webhook_event() returns trigger language plpgsql as $$
begin
  insert into webhook_events (order_id, seq, type, data, due_at, give_up_at)
  select new.id, new.version,
    'order.' || lower(case when new.state is distinct from old.state then new.state
      else coalesce(new.refund_state, new.state) end),
    jsonb_build_object('orderId', new.id, 'paymentId', new.payment_id, 'state', new.state,
      'refund_state', new.refund_state, 'transactionHash', new.transaction_hash,
      'refundTransactionHash', new.refund_transaction_hash),
    case state when 'active' then now() end, now() + interval '3 days'
  from order_webhooks where order_id = new.id and state <> 'over_limit';
  return null;
end
$$;

create trigger note_webhook_event after update on orders for each row
  when (old.state is distinct from new.state or old.refund_state is distinct from new.refund_state)
  execute function note_webhook_event();

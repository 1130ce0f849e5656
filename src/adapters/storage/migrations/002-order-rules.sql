-- The life of an order, kept by the database too: a defect in the code above, or a hand on the
-- console, cannot deliver and pay back, deliver twice, or rewrite what happened.

alter table orders
  add constraint orders_state_known check (state in (
    'PAYMENT_PENDING', 'PAYMENT_FAILED', 'PAID', 'FULFILLING', 'FULFILLED',
    'FULFILLMENT_FAILED', 'EXPIRED')),
  add constraint orders_refund_state_known
    check (refund_state in ('REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED')),
  add constraint orders_outcome_known check (outcome in ('DELIVER', 'REFUND')),
  add constraint orders_deliver_when_fulfilled
    check ((state = 'FULFILLED') = (outcome is not distinct from 'DELIVER')),
  add constraint orders_refund_when_given_up
    check ((state in ('FULFILLMENT_FAILED', 'EXPIRED')) = (outcome is not distinct from 'REFUND')),
  add constraint orders_goods_only_to_deliver
    check (delivery is null or outcome is not distinct from 'DELIVER'),
  add constraint orders_refund_state_only_to_refund
    check ((refund_state is not null) = (outcome is not distinct from 'REFUND')),
  add constraint orders_refunded_with_proof
    check ((refund_state is not distinct from 'REFUNDED') = (refund_transaction_hash is not null)),
  add constraint orders_due_until_finished check ((due_at is null) = (finished_at is not null)),
  add constraint orders_doc_agrees check (doc ->> 'state' is not distinct from state);

create function guard_order() returns trigger language plpgsql as $$
declare
  unleased orders := new;
begin
  if (new.id, new.payment_id, new.kind, new.offer_id, new.payer, new.amount, new.placed_at)
    is distinct from
    (old.id, old.payment_id, old.kind, old.offer_id, old.payer, old.amount, old.placed_at) then
    raise exception 'order %: what was bought and paid never changes', old.id;
  end if;
  if new.version = old.version then
    unleased.due_at := old.due_at;
    unleased.locked_until := old.locked_until;
    if unleased is distinct from old then
      raise exception 'order %: only its lease may change without a new version', old.id;
    end if;
    return new;
  end if;
  -- An authorization is completed after it was written down; an invoice was complete.
  if old.doc #>> '{tender,rail}' = 'btcpay' and new.doc -> 'tender' is distinct from old.doc -> 'tender'
  then
    raise exception 'order %: what was bought and paid never changes', old.id;
  end if;
  if new.version <> old.version + 1 then
    raise exception 'order %: version % cannot follow %', old.id, new.version, old.version;
  end if;
  if new.outcome is distinct from old.outcome and old.outcome is not null then
    raise exception 'order %: it was decided to %, for good', old.id, old.outcome;
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
    ('PAYMENT_PENDING', 'PAID'),
    ('PAYMENT_PENDING', 'PAYMENT_FAILED'),
    ('PAID', 'FULFILLING'),
    ('PAID', 'PAYMENT_PENDING'),
    ('FULFILLING', 'FULFILLED'),
    ('FULFILLING', 'FULFILLMENT_FAILED'),
    ('FULFILLING', 'EXPIRED')) then
    raise exception 'order %: % cannot follow %', old.id, new.state, old.state;
  end if;
  if old.refund_state = 'REFUNDED' and new.refund_state is distinct from 'REFUNDED' then
    raise exception 'order %: it was refunded, for good', old.id;
  end if;
  return new;
end
$$;

create trigger guard_order before update on orders for each row execute function guard_order();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% keeps what was written: no %', tg_table_name, lower(tg_op);
end
$$;

create trigger keep_orders before delete or truncate on orders
  for each statement execute function refuse_change();
create trigger keep_payments before update or delete or truncate on payments
  for each statement execute function refuse_change();
create trigger keep_order_events before update or delete or truncate on order_events
  for each statement execute function refuse_change();

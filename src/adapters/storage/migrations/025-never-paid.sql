-- An order that has ended and has moved no money in its life is one whose payment failed: every other
-- end has entries in the ledger, which are never changed (004-money.sql). The state said nothing more. A
-- payment that was seen and vanished fails as well, and leaves entries: such an order is kept.
create or replace function never_paid(wanted text) returns boolean language sql volatile as $$
  select exists (
    select from orders where id = wanted and finished_at < now() - interval '1 day'
      and not exists (select from ledger where order_id = wanted))
$$;

-- When the requests came that may be about to open an order with this payment. One that was judged
-- takes its own out again, so that an equal one, judged otherwise, can tell whether it is the last
-- (docs/decisions/016-one-payment-one-request.md).
alter table payment_reservations
  add column under_way timestamptz[] not null default '{}',
  drop column seen_at;

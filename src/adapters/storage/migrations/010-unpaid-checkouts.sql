-- outside a transaction
-- Checkouts that were closed without a payment, which forget_unpaid_checkouts deletes.
drop index concurrently if exists checkouts_never_paid;
create index concurrently checkouts_never_paid on checkouts (finished_at)
  where state in ('REFUSED', 'ENDED') and settled = 0;

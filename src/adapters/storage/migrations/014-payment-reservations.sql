-- Which request a payment came with, from before anybody outside of the store saw the payment
-- (docs/decisions/016-one-payment-one-request.md). Nothing else is kept of a payment that never paid,
-- and this goes after a day.
create table payment_reservations (
  payment_key text primary key,
  -- Keyed digest of what is asked for.
  request text not null,
  -- Whether the payer's own key is known to have signed.
  signed boolean not null,
  reserved_at timestamptz not null,
  -- When a request came with it last.
  seen_at timestamptz not null
);

create index payment_reservations_age on payment_reservations (reserved_at);

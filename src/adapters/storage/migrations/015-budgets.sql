-- What is looked at every few seconds before more is sold.
create index orders_to_supply on orders (amount) where state in ('PAID', 'FULFILLING');
create index orders_without_funds on orders (changed_at)
  where doc #>> '{failure,code}' = 'INSUFFICIENT_FUNDS';

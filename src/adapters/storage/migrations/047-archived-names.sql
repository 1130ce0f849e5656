-- outside a transaction
-- Whoever has the transaction or the payment id of an archived order hears that it is archived. Indexes of hashes
-- take the least room: there is an entry for every order, for ever.
drop index concurrently if exists archived_by_transaction;
create index concurrently archived_by_transaction on archived_orders
  using hash (lower(doc ->> 'transaction'));
drop index concurrently if exists archived_by_payment_id;
create index concurrently archived_by_payment_id on archived_orders
  using hash ((doc ->> 'paymentId'));

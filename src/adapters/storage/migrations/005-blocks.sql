-- The newest block that a payment on record is in: how far the chain is known here. It is read at
-- every start, before anything is done, so it is found without reading the orders.
create index orders_by_block on orders (((doc #>> '{receipt,block}')::bigint))
  where transaction_hash is not null;

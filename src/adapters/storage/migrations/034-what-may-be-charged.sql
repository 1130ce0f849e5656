-- What is looked at every few seconds before more is sold: orders that were given up and that the
-- supplier may still take money for, and those that were given up lately.
create index orders_supply_open on orders (amount) where doc #>> '{supply,state}' = 'OPEN';
create index orders_given_up on orders (changed_at) where outcome = 'REFUND';

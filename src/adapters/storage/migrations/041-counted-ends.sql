-- How many orders have come to each end, kept as they come there, so that no count reads all orders. A
-- row is added each time, and rows are added up now and then: two orders that end at once wait for no
-- common row. `gone` are those that are on record no more, so `came` never falls.
create table order_ends (
  state text not null check (state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED')),
  came bigint not null check (came >= 0),
  gone bigint not null check (gone >= 0)
);

create trigger keep_order_ends before update or truncate on order_ends
  for each statement execute function refuse_change();

create function count_order_end() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into order_ends values (old.state, 0, 1);
  else
    insert into order_ends values (new.state, 1, 0);
  end if;
  return null;
end
$$;

-- No order leaves such a state (002-order-rules.sql), so each comes there once.
create trigger count_end_of_new after insert on orders for each row
  when (new.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();
create trigger count_end_of_moved after update on orders for each row
  when (new.state <> old.state
    and new.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();
create trigger count_end_gone after delete on orders for each row
  when (old.state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'))
  execute function count_order_end();

-- The triggers above keep writers of orders out until this migration is committed, so none is missed.
insert into order_ends
  select state, count(*), 0 from orders
  where state in ('PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED')
  group by state;

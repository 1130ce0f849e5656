-- Whoever gives an order up sets its due time to the end of the lease or later. A lease that ended
-- after the due time was broken off, so the sweep takes those first, however many only wait.
drop index orders_due;
create index orders_due on orders ((locked_until <= due_at), due_at) where due_at is not null;

-- What the guards before left open to a hand on the console.

-- Keys and limits may be forgotten one by one, and never all at once.
create trigger keep_wallet_limits before truncate on wallet_limits
  for each statement execute function refuse_change();
create trigger keep_refund_claims before truncate on refund_claims
  for each statement execute function refuse_change();
create trigger keep_idempotency_keys before truncate on idempotency_keys
  for each statement execute function refuse_change();

-- No order begins decided, so that goods and refunds are only what the moves have led to.
create function refuse_beginning() returns trigger language plpgsql as $$
begin
  raise exception 'order %: it cannot begin as %', new.id, new.state;
end
$$;

create trigger guard_beginning before insert on orders for each row
  when (new.outcome is not null) execute function refuse_beginning();

-- A grant counts for what its order was paid, because the caps are sums of grants.
create function guard_refund_grant() returns trigger language plpgsql as $$
begin
  perform from orders where id = new.order_id and amount = new.amount
    and outcome = 'REFUND' and settlement = 'FINAL';
  if not found then
    raise exception 'order %: no refund of % is to be granted', new.order_id, new.amount;
  end if;
  return new;
end
$$;

create trigger guard_refund_grant before insert on refund_grants
  for each row execute function guard_refund_grant();

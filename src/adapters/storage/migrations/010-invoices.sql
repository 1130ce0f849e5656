-- Orders that were paid through an invoice, beside those that were paid with an authorization.

alter table orders
  add constraint orders_rail_known check (doc #>> '{tender,rail}' in ('x402', 'btcpay')),
  add constraint orders_receipt_of_its_rail
    check (doc #>> '{receipt,rail}' = doc #>> '{tender,rail}'),
  add constraint orders_block_of_a_receipt
    check (doc #>> '{receipt,rail}' <> 'x402' or doc #> '{receipt,block}' is not null);

-- An invoice pays the one order that its checkout has decided on: its price, and back to the address
-- that its buyer gave. The payer is the coin and that address, so it is no wallet, has no limits and
-- cannot sign in.
create function check_invoice() returns trigger language plpgsql as $$
declare
  paid checkouts;
begin
  select * into paid from checkouts
    where order_id = new.id and state = 'ORDERED' and id = new.doc #>> '{tender,nonce}';
  if paid.id is null then
    raise exception 'order %: no checkout has decided that its invoice pays it', new.id;
  end if;
  if (new.amount, new.kind, new.offer_id, new.payer)
      is distinct from
      (paid.amount, paid.kind, paid.offer_id, lower(paid.coin || ':' || paid.refund_to))
    or (new.doc #>> '{tender,amount,$bigint}')::numeric is distinct from paid.amount
    or (new.doc #>> '{tender,units,$bigint}')::numeric is distinct from paid.price
    or (new.doc #>> '{tender,invoice}', new.doc #>> '{tender,asset}')
      is distinct from (paid.invoice_id, paid.coin) then
    raise exception 'order %: it is not the order that its checkout decided on', new.id;
  end if;
  return null;
end
$$;

create trigger check_invoice after insert on orders for each row
  when (new.doc #>> '{tender,rail}' = 'btcpay') execute function check_invoice();

-- What each kind of money that goes back is held to: its sums within the caps.
create function allow_amount(wanted text, owed numeric, hour_cap numeric, day_cap numeric)
returns text language plpgsql as $$
declare
  hour numeric;
  day numeric;
begin
  if owed > least(hour_cap, day_cap) then return 'over_cap'; end if;
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0),
      coalesce(sum(amount), 0)
    into hour, day from grants where kind = wanted and granted_at > now() - interval '1 day';
  if hour + owed > hour_cap then return 'hour_cap'; end if;
  if day + owed > day_cap then return 'day_cap'; end if;
  return 'granted';
end
$$;

-- The amount and the payee are the order's own, so no caller can ask for others.
create function allow_refund(wanted text, hour_cap numeric, day_cap numeric) returns text
language plpgsql as $$
declare
  is_stopped boolean;
  owed numeric;
  said text;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  if exists (select from refund_grants where order_id = wanted) then return 'granted'; end if;
  select amount into owed from orders
    where id = wanted and outcome = 'REFUND' and settlement = 'FINAL';
  if owed is null then
    raise exception 'order %: it is not one whose money goes back', wanted;
  end if;
  said := allow_amount('refund', owed, hour_cap, day_cap);
  if said = 'granted' then insert into refund_grants values (wanted, owed, now()); end if;
  return said;
end
$$;

-- The units, the address and the rate are the checkout's own, so no caller can ask for others. What
-- the units stand for is rounded up.
create function allow_return(wanted text, wanted_seq integer, hour_cap numeric, day_cap numeric)
returns text language plpgsql as $$
declare
  is_stopped boolean;
  owed numeric;
  said text;
begin
  select stopped into strict is_stopped from refund_switch for update;
  if is_stopped then return 'stopped'; end if;
  if exists (select from return_grants where checkout_id = wanted and seq = wanted_seq) then
    return 'granted';
  end if;
  select div(one.units * checkouts.amount + invoice_units - 1, invoice_units) into owed
    from checkouts, checkout_returns(doc) as one
    where id = wanted and one.seq = wanted_seq and one.step = 'DUE';
  if owed is null then
    raise exception 'checkout %: return % is not one that is due', wanted, wanted_seq;
  end if;
  said := allow_amount('return', owed, hour_cap, day_cap);
  if said = 'granted' then insert into return_grants values (wanted, wanted_seq, owed, now()); end if;
  return said;
end
$$;

-- Transfers of the store's own wallets that no order explains, and that a person vouches for: a float that
-- was taken out, takings that came by a plain transfer. What was vouched for stays so.
create table acknowledged_movements (
  transaction_hash text not null check (transaction_hash ~ '^0x[0-9a-f]{64}$'),
  -- Its place among all logs of its block.
  log_index integer not null check (log_index >= 0),
  from_address text not null check (from_address ~ '^0x[0-9a-f]{40}$'),
  to_address text not null check (to_address ~ '^0x[0-9a-f]{40}$'),
  amount numeric(78, 0) not null check (amount >= 0),
  reason text not null check (length(btrim(reason)) between 3 and 500),
  acknowledged_by text not null check (length(btrim(acknowledged_by)) between 2 and 100),
  acknowledged_at timestamptz not null,
  primary key (transaction_hash, log_index)
);

create trigger keep_acknowledged_movements before update or delete or truncate on acknowledged_movements
  for each statement execute function refuse_change();

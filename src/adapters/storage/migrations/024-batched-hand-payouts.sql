-- An operator may pay two returns of the same amount to the same address with one transaction, as wallets
-- do that send in batches. Each transfer of it pays once, so the second one has to be named.
alter table hand_payouts
  add column transfer smallint not null default 1 check (transfer >= 1),
  drop constraint hand_payouts_transaction_hash_address_units_key,
  add unique (transaction_hash, address, units, transfer);

-- Every address that the store was ever paid at or paid back from: what the chain has of the earlier ones
-- belongs to its books. None is ever taken away.
create table store_wallets (
  role text not null check (role in ('pay_to', 'refunds')),
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  -- When it became the store's; null where that is not known, as for the first of its role.
  since timestamptz,
  primary key (role, address)
);

insert into store_wallets (role, address) select 'pay_to', lower(pay_to) from store_identity;

create trigger keep_store_wallets before update or delete or truncate on store_wallets
  for each statement execute function refuse_change();

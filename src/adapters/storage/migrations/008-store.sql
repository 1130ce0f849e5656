-- Whose orders these are. One row.
create table store_identity (
  only_row boolean primary key default true check (only_row),
  mode text not null,
  network text not null,
  asset text not null,
  pay_to text not null,
  claimed_at timestamptz not null
);

-- Every address at which the store was ever paid or from which it ever refunded: what the chain has of the earlier ones
-- belongs to its books. None is ever removed.
create table store_wallets (
  role text not null check (role in ('pay_to', 'refunds')),
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  -- When it became the store's; null where that is not known, as for the first of its role.
  since timestamptz,
  primary key (role, address)
);

create trigger keep_store_wallets before update or delete or truncate on store_wallets
  for each statement execute function refuse_change();

-- The processes that serve this store.
create table nodes (
  id uuid primary key,
  name text not null,
  version text not null,
  -- The id of the key that it seals and signs with; no key can be told from its id.
  key_id text not null check (key_id ~ '^[0-9a-f]{12}$'),
  -- Keyed digests of the settings in which nodes have to agree, under each of its keys.
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  seen_at timestamptz not null,
  left_at timestamptz
);

-- Sign-in nonces that were used, until they would have expired anyway.
create table used_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);

create index used_nonces_by_end on used_nonces (expires_at);

-- The last good list of the suppliers' offers, in pages. Its row comes after its pages.
create sequence catalog_snapshot_ids;

create table catalog_snapshot (
  id bigint primary key,
  -- The form of the offers.
  format integer not null,
  read_at timestamptz not null,
  offers integer not null,
  set_aside jsonb not null,
  -- Kinds of a list that were not believed, and when the offers that stayed on sale were read.
  held jsonb not null
);

create table catalog_pages (
  snapshot bigint not null,
  page integer not null,
  offers json not null,
  primary key (snapshot, page)
);

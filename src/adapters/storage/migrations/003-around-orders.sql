-- Sign-in nonces that were used, until they would have run out anyway.
create table used_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);

create index used_nonces_by_end on used_nonces (expires_at);

-- The last good lists of the supplier, compressed.
create table catalog_snapshot (
  id bigint generated always as identity primary key,
  read_at timestamptz not null,
  offers integer not null,
  set_aside jsonb not null,
  body bytea not null
);

-- Whose orders these are. One row.
create table store_identity (
  only_row boolean primary key default true check (only_row),
  mode text not null,
  network text not null,
  asset text not null,
  pay_to text not null,
  claimed_at timestamptz not null
);

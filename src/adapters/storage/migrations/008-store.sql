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

-- The processes that serve this store, by the ids of the keys that each can read with; no key can be told from its id.
create table nodes (
  id uuid primary key,
  name text not null,
  key_ids text[] not null
    check (array_to_string(key_ids, ',', 'none') ~ '^[0-9a-f]{12}(,[0-9a-f]{12})*$'),
  used_key text not null check (used_key = any (key_ids)),
  seen_at timestamptz not null,
  left_at timestamptz,
  version text not null default '',
  -- Keyed digests of the settings in which nodes have to agree.
  settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object')
);

-- Each turn of the nodes to another key. The newest says which key is in force.
create table used_keys (
  turn bigint generated always as identity primary key,
  key_id text not null check (key_id ~ '^[0-9a-f]{12}$'),
  node text not null,
  used_at timestamptz not null
);

create trigger keep_nodes before truncate on nodes
  for each statement execute function refuse_change();
create trigger keep_used_keys before update or delete or truncate on used_keys
  for each statement execute function refuse_change();

-- A node that was seen in the future would be waited for until then, and one that lacks the key in force could not read
-- what the others write.
create function guard_node() returns trigger language plpgsql as $$
declare
  in_force text;
begin
  select key_id into in_force from used_keys order by turn desc limit 1;
  if not in_force = any (new.key_ids) then
    raise exception 'node %: it lacks the key %, which is in force', new.name, in_force;
  end if;
  if new.seen_at > clock_timestamp() then
    raise exception 'node %: it cannot be seen in the future', new.name;
  end if;
  return new;
end
$$;

create trigger guard_node before insert or update on nodes
  for each row execute function guard_node();

create function guard_used_key() returns trigger language plpgsql as $$
declare
  ignorant text;
begin
  select name into ignorant from nodes where not new.key_id = any (key_ids) limit 1;
  if found then
    raise exception 'key %: node % does not know it', new.key_id, ignorant;
  end if;
  return new;
end
$$;

create trigger guard_used_key before insert on used_keys
  for each row execute function guard_used_key();

-- Sign-in nonces that were used, until they would have expired anyway.
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
  body bytea not null,
  -- Kinds of a list that were not believed, and when the offers that stayed on sale were read.
  held jsonb not null default '{}'
);

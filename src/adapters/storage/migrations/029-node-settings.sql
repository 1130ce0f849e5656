-- What nodes run, and keyed digests of the settings in which they have to agree. A node of before has none.
alter table nodes
  add column version text not null default '',
  add column settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object');

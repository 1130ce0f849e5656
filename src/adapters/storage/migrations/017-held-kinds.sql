-- Kinds of a list that were not believed, and when the offers that stayed on sale were read.
alter table catalog_snapshot add column held jsonb not null default '{}';

-- The first of two steps, where a migration is the second one and takes away what older versions used: a
-- version that does not know the first refuses to start. One that does goes on, and starts.
alter table schema_migrations add column if not exists needs text;

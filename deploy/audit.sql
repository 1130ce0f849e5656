-- The audit: who did what to the store, when and why. Its table belongs to the role kiosk402_audit, which nobody signs in
-- as, so the store's own role adds to it and reads it, and can neither change nor remove what was written.
--
-- Run it once as an administrator of the database, before the store takes real money, and again after a restore:
--
--   sudo -u postgres psql --dbname kiosk402 --file - < deploy/audit.sql
--
-- The administrator need not be a superuser: who may create roles and has made the store's role is enough. The store's
-- role is the owner of the database, or is named with PGOPTIONS='-c kiosk402.store=NAME'. Without an administrator, the
-- store runs this itself and owns the table, which is enough for test money.

do $$
declare
  store name := coalesce(nullif(current_setting('kiosk402.store', true), ''),
    (select pg_get_userbyid(datdba) from pg_database where datname = current_database()));
begin
  if current_user <> store then
    if not exists (select from pg_roles where rolname = 'kiosk402_audit') then
      create role kiosk402_audit nologin;
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user) then
      execute format('grant kiosk402_audit, %I to %I', store, current_user);
    end if;
  end if;

  if not exists (select from pg_namespace where nspname = 'audit') then
    create schema audit;
    create table audit.acts (
      seq bigint generated always as identity primary key,
      at timestamptz not null default clock_timestamp(),
      by text not null check (by <> ''),
      act text not null check (act <> ''),
      subject text not null,
      before jsonb,
      after jsonb,
      reason text
    );
    create index acts_by_time on audit.acts (at);
    create index acts_by_subject on audit.acts (subject, at);
    create index acts_by_person on audit.acts (by, at);
  end if;

  if current_user <> store then
    alter schema audit owner to kiosk402_audit;
    alter table audit.acts owner to kiosk402_audit;
    execute format('revoke all on schema audit from public, %I', store);
    execute format('revoke all on audit.acts from public, %I', store);
    execute format('grant usage on schema audit to %I', store);
    -- Not the time: nobody writes into the past.
    execute format('grant select, insert (by, act, subject, before, after, reason) on audit.acts to %I', store);
    -- pg_dump reads it.
    execute format('grant select on audit.acts_seq_seq to %I', store);
  end if;
end
$$;

-- Whom the store sells nothing to: wallets, coin addresses, and what names a receiver. Every change stays on record,
-- so that it can be told later who was listed when, and why.
create table denylist_changes (
  seq bigint generated always as identity primary key,
  party text not null check (party = lower(party) and party <> ''),
  is_denied boolean not null,
  reason text not null check (reason <> ''),
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index denylist_changes_of_party on denylist_changes (party, seq);

create trigger keep_denylist_changes before update or delete or truncate on denylist_changes
  for each statement execute function refuse_change();

create view denylist as
  select party, reason, changed_by, changed_at
  from (select distinct on (party) * from denylist_changes order by party, seq desc) as newest
  where is_denied;

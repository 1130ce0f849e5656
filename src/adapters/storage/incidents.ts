import type { Incident, IncidentBook, Notice } from '../../operations/ports.ts'
import type { Database } from './database.ts'

export function createIncidentBook(database: Database): IncidentBook {
  return {
    async note(sightings, channels) {
      await database.query(noteSql, [JSON.stringify(sightings), channels])
      await database.query(recoverSql)
    },

    async noteTold({ condition, subject, text }, openedAt, channels, told) {
      await database.query(toldSql, [condition, subject, text, openedAt, channels, told])
    },

    async claimDue(channels) {
      const { rows } = await database.query<Incident & Omit<Notice, 'incident'>>(claimSql, [
        channels,
      ])
      return rows.map(({ channel, attempts, ...incident }) => ({ incident, channel, attempts }))
    },

    async end({ incident: { id, recoveredAt }, channel }, againInMs) {
      const told = recoveredAt ? 'recovery' : 'opening'
      await database.query(endSql, [id, channel, againInMs === undefined ? told : null, againInMs])
    },
  }
}

/** Two nodes that open the same at once meet in the unique index, and one of them opens nothing. */
const noteSql = `
  with seen as (
    select * from jsonb_to_recordset($1) as one (condition text, subject text, text text, "isDue" boolean)
  ), kept as (
    update incidents set seen_at = now() from seen
    where recovered_at is null and incidents.condition = seen.condition
      and incidents.subject = coalesce(seen.subject, incidents.subject)
  ), opened as (
    insert into incidents (condition, subject, text)
    select condition, subject, text from seen where "isDue"
    on conflict (condition, subject) where recovered_at is null do nothing
    returning id
  )
  insert into incident_notices (incident_id, channel) select id, unnest($2::text[]) from opened`

const recoverSql = `
  update incidents set recovered_at = now()
  where recovered_at is null and seen_at < now() - interval '5 minutes'`

const toldSql = `
  with opened as (
    insert into incidents (condition, subject, text, opened_at) values ($1, $2, $3, $4)
    on conflict (condition, subject) where recovered_at is null do nothing
    returning id
  )
  insert into incident_notices (incident_id, channel, told)
  select id, channel, case when channel = any($6) then 'opening' else 'nothing' end
  from opened, unnest($5::text[]) as channel`

/** What recovered before its opening was told is told once, as over. */
const claimSql = `
  with taken as materialized (
    select incident_id, channel from incident_notices join incidents on id = incident_id
    where channel = any($1) and due_at <= now() and locked_until <= now()
      and (told = 'nothing' or told = 'opening' and recovered_at is not null)
    order by incident_id limit 10
    for update of incident_notices skip locked
  )
  update incident_notices notice set attempts = attempts + 1, locked_until = now() + interval '1 minute'
  from taken, incidents incident
  where notice.incident_id = taken.incident_id and notice.channel = taken.channel and id = taken.incident_id
  returning id, condition, subject, text, opened_at as "openedAt", recovered_at as "recoveredAt",
    notice.channel, notice.attempts`

const endSql = `
  update incident_notices set locked_until = now(), told = coalesce($3, told),
    attempts = case when $3::text is null then attempts else 0 end,
    due_at = now() + coalesce($4::float8, 0) * interval '1 ms'
  where incident_id = $1 and channel = $2`

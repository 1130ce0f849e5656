import type { Pool } from 'pg'
import { hereForSeconds, type NodeBook, type OtherNode } from '../../nodes/nodes.ts'

/**
 * All times are by the clock of the database. Nodes that are gone are deleted; those that sealed with a key that
 * this node lacks only after a week, so that the operator sees that a key is missing.
 */
const beatSql = `
  with gone as (
    delete from nodes
    where id <> $1 and (left_at is not null or seen_at < clock_timestamp() - $6 * interval '1 second')
      and ($5::jsonb ? key_id or seen_at < clock_timestamp() - interval '7 days')
  ), here as (
    insert into nodes (id, name, version, key_id, settings, seen_at)
    values ($1, $2, $3, $4, $5, clock_timestamp())
    on conflict (id) do update set seen_at = excluded.seen_at, left_at = null
  )
  select name, version, key_id as "keyId", settings, is_here as "isHere"
  from nodes,
    lateral (select left_at is null and seen_at > clock_timestamp() - $6 * interval '1 second' as is_here) as state
  where id <> $1 and (is_here or not $5::jsonb ? key_id)
  order by name, id`

/** Keeps the nodes in the database that they share. */
export function createNodeBook(pool: Pool): NodeBook {
  return {
    async beat({ id, name, version, keyId, settings }) {
      const values = [id, name, version, keyId, JSON.stringify(settings), hereForSeconds]
      return (await pool.query<OtherNode>(beatSql, values)).rows
    },
    async leave(id) {
      await pool.query('update nodes set left_at = clock_timestamp() where id = $1', [id])
    },
  }
}

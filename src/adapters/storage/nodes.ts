import type { Pool } from 'pg'
import {
  aliveForMinutes,
  hereForSeconds,
  type Joining,
  type KeyUse,
  keyToUse,
  type NodeBook,
  type Other,
} from '../../nodes/nodes.ts'
import type { Database } from './database.ts'
import { atOnce } from './transaction.ts'

/** Keeps the nodes in the database that they share. All times are by its clock. */
export function createNodeBook(pool: Pool): NodeBook {
  return {
    beat: (node) =>
      atOnce(pool, async (database) => {
        // One beat at a time, because each decides by the keys that all other nodes know and use.
        await database.query(`select pg_advisory_xact_lock(hashtextextended('nodes', 0))`)
        const others = await othersThan(node, database)
        const before = await inForce(database)
        const keyId = keyToUse(node, others, before)
        if (keyId !== before?.keyId) await turnTo(keyId, node, database)
        await note(node, keyId, database)
        return { keyId, others }
      }),

    async leave(id) {
      await pool.query('update nodes set left_at = clock_timestamp() where id = $1', [id])
    },

    inForce: () => inForce(pool),
  }
}

/**
 * The other nodes that are alive. Deletes nodes that were silent for too long, those that left and have a
 * successor of the same name, and those that use a lost key: one that still runs fails at its next beat.
 */
async function othersThan(
  { id, name, keyIds, lostKeys }: Joining,
  database: Database,
): Promise<readonly Other[]> {
  await database.query(
    `delete from nodes where id <> $1 and (left_at is not null and name = $2
       or seen_at <= clock_timestamp() - $3 * interval '1 minute'
       or not used_key = any ($4) and ($5::text[] is null or used_key = any ($5)))`,
    [id, name, aliveForMinutes, keyIds, lostKeys === 'any' ? null : lostKeys],
  )
  const { rows } = await database.query<Other>(
    `select name, key_ids as "keyIds", used_key as "keyId", version, settings,
       left_at is null and seen_at > clock_timestamp() - $2 * interval '1 second' as "isHere"
     from nodes where id <> $1 order by name, id`,
    [id, hereForSeconds],
  )
  return rows
}

async function inForce(database: Database): Promise<KeyUse | undefined> {
  const { rows } = await database.query<KeyUse>(
    'select node as name, key_id as "keyId" from used_keys order by turn desc limit 1',
  )
  return rows[0]
}

async function turnTo(keyId: string, { name }: Joining, database: Database): Promise<void> {
  await database.query(
    'insert into used_keys (key_id, node, used_at) values ($1, $2, clock_timestamp())',
    [keyId, name],
  )
}

async function note(node: Joining, keyId: string, database: Database): Promise<void> {
  const { id, name, keyIds, version, settings } = node
  await database.query(
    `insert into nodes (id, name, key_ids, version, used_key, settings, seen_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())
     on conflict (id) do update
       set used_key = $5, settings = $6, seen_at = clock_timestamp(), left_at = null`,
    [id, name, keyIds, version, keyId, JSON.stringify(settings(keyId))],
  )
}

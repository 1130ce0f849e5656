import type { NonceStore } from '../../orders/ports.ts'
import type { Database } from './database.ts'

/**
 * How long a nonce is kept after it has expired, because the node that checks the expiry of a message may
 * have a clock that is behind the database's.
 */
const rememberFor = '1 hour'

/** Keeps used nonces in the database, so that no node accepts one that another node has seen. */
export function createNonceStore(
  database: Database,
): NonceStore & { forgetExpired(): Promise<number> } {
  return {
    async useOnce(nonce, expiresAt) {
      const { rowCount } = await database.query(
        'insert into used_nonces (nonce, expires_at) values ($1, $2) on conflict do nothing',
        [nonce, expiresAt],
      )
      return rowCount === 1
    },

    async forgetExpired() {
      const { rowCount } = await database.query(
        'delete from used_nonces where expires_at < now() - $1::interval',
        [rememberFor],
      )
      return rowCount ?? 0
    },
  }
}

import type { OrderId } from '../../lib/ids.ts'
import type { NoteShown } from '../../orders/finding.ts'
import type { Database } from './database.ts'

interface Showing {
  readonly order: OrderId
  readonly what: 'goods_shown' | 'link_sent'
  readonly how: string
  readonly at: Date
}

/** The first one of each hour is kept. */
export async function keepShowings(
  database: Database,
  showings: readonly Showing[],
): Promise<void> {
  await database.query(
    `insert into order_showings (order_id, what, how, hour, at)
     select "order", what, how, date_trunc('hour', at, 'UTC'), at
     from jsonb_to_recordset($1) as one ("order" text, what text, how text, at timestamptz)
     on conflict do nothing`,
    [JSON.stringify(showings)],
  )
}

const writeAfterMs = 500
const retryAfterMs = 5_000

/** Many at once, so that no purchase pays for a write of its own. A node that is killed loses those of half a second. */
export function createShowings(
  database: Database,
  onError: (error: Error) => void,
): { readonly noteShown: NoteShown; write(): Promise<void> } {
  const waiting = new Map<string, Showing>()
  let timer: NodeJS.Timeout | undefined
  const writeIn = (ms: number) => {
    timer ??= setTimeout(write, ms).unref()
  }
  async function write() {
    clearTimeout(timer)
    timer = undefined
    const batch = [...waiting]
    if (batch.length === 0) return
    waiting.clear()
    try {
      await keepShowings(
        database,
        batch.map(([, showing]) => showing),
      )
    } catch (error) {
      for (const [key, showing] of batch) waiting.set(key, showing)
      onError(error as Error)
      writeIn(retryAfterMs)
    }
  }
  return {
    noteShown(order, how) {
      const key = `${order} ${how}`
      if (!waiting.has(key)) waiting.set(key, { order, what: 'goods_shown', how, at: new Date() })
      writeIn(writeAfterMs)
    },
    write,
  }
}

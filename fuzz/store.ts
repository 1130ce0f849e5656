import { startChild } from '../test/harness/child.ts'
import { query } from '../test/harness/query.ts'
import { settingsOn, startRealParts } from '../test/harness/real-parts.ts'
import type { Surface } from './inputs.ts'
import { type Look, secretsOf } from './trial.ts'

/** A store of 12,000 offers on a real database, chain and supplier, in a process of its own. */
export async function startStore() {
  await using starting = new AsyncDisposableStack()
  const parts = starting.adopt(await startRealParts({ offers: 12_000, stepMs: 15 }), (one) =>
    one.stop(),
  )
  const settings = await settingsOn(parts)
  const { started: routes, look } = starting.adopt(
    await startChild<Surface['routes'], Look>('fuzz/store-process.ts', settings),
    (one) => one.stop(),
  )
  const { url, port, databaseUrl } = settings
  const started = starting.move()
  return {
    ...{ url, port, routes, look },
    secrets: secretsOf(settings),
    async countOrders(): Promise<number> {
      const [row] = await query(databaseUrl, 'select count(*)::int as orders from orders')
      return row.orders
    },
    stop: () => started.disposeAsync(),
  }
}

export type FuzzedStore = Awaited<ReturnType<typeof startStore>>

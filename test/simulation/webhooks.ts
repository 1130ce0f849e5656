import { orderIdOfReference } from '../../src/orders/order.ts'
import { streamOf } from '../model/random.ts'
import type { StoreNode } from './node.ts'
import { manners } from './scenario.ts'
import type { World } from './world.ts'

/** The supplier's webhooks about purchases that ended: late, repeated or lost, and some for unknown orders. */
export function webhooks(world: World, nodes: readonly StoreNode[]): void {
  const { time } = world
  const random = streamOf(world.seed, 'webhooks')
  world.supplierTells(plan)

  function plan(reference: string): void {
    const spec = world.book.ofReference(reference)?.spec
    const endsAfterMs = spec && manners[spec.supplier].endsAfterMs
    if (!spec || spec.webhooks === 'lost' || endsAfterMs === undefined) return
    const times = spec.webhooks === 'repeated' ? 3 : 1
    for (let nth = 0; nth < times; nth += 1) {
      time.later(endsAfterMs + 20_000 * random(), () => void deliver(reference))
    }
    if (random() < 0.1) time.later(1_000, () => void deliver('ord00000000000000000000000000'))
  }

  /** Does the same as the supplier's webhook in src/http/routes.ts. */
  async function deliver(reference: string): Promise<void> {
    const node = nodes[Math.floor(random() * nodes.length)]
    const process = node?.process()
    const id = orderIdOfReference(reference)
    if (!node || !process || id === undefined) return
    world.trace.tell('webhook', id)
    const name = `webhook ${time.time()}`
    const deps = node.depsFor({ process, name: 'webhook', random: streamOf(world.seed, name) })
    try {
      await deps.orders.hasten(id)
      deps.notifier.notify(id)
    } catch {
      // The supplier gets an error, and does not retry.
    }
  }
}

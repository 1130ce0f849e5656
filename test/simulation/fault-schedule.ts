import { refundWallet } from '../model/payment-method.ts'
import { walletOf } from './buyer-book.ts'
import type { StoreNode } from './node.ts'
import type { FaultSpec } from './scenario.ts'
import type { World } from './world.ts'

type Strike = (world: World, node: StoreNode, spec: FaultSpec) => void

/** Schedules all faults of the scenario. All end some time after the last one begins. */
export function scheduleFaults(world: World, nodes: readonly StoreNode[]): void {
  for (const spec of world.scenario.faults) {
    const node = nodes[spec.which % nodes.length]
    if (node) {
      world.time.later(spec.atSeconds * 1_000, () => {
        world.trace.tell(`fault ${spec.type}`)
        strikes[spec.type](world, node, spec)
      })
    }
  }
}

const strikes: Readonly<Record<FaultSpec['type'], Strike>> = {
  crash(world, node, spec) {
    node.crash()
    startLater(world, node, spec)
  },
  stop(world, node, spec) {
    node.stop()
    startLater(world, node, { ...spec, lastsSeconds: spec.lastsSeconds + 20 })
  },
  // Most pauses are longer than a lease.
  pause: (_, node, { lastsSeconds }) => node.pause(30_000 + lastsSeconds * 1_000),
  'database-down': down('database'),
  'chain-down': down('chain'),
  'supplier-down': (world, node, spec) =>
    down('supplier')(world, node, { ...spec, lastsSeconds: spec.lastsSeconds * 4 }),
  reorg: (world, _, { blocks }) => world.network.reorg(blocks),
  'rpc-lags': (world, { index }, { blocks, lastsSeconds }) =>
    void world.sky.lags.set(index, { blocks, until: world.time.time() + lastsSeconds * 4_000 }),

  'token-paused'({ chain, time }, _, { lastsSeconds }) {
    chain.token.isPaused = true
    time.later(lastsSeconds * 1_000, () => {
      chain.token.isPaused = false
    })
  },
  'float-gone'({ chain, time }, _, { lastsSeconds }) {
    const gone = chain.balanceOf(refundWallet)
    chain.fund(refundWallet, -gone)
    time.later(lastsSeconds * 10_000, () => chain.fund(refundWallet, gone))
  },
  'refunds-stopped'({ payoutLimits, time }, _, { lastsSeconds }) {
    payoutLimits.rules.stoppedAt = time.time()
    time.later(lastsSeconds * 10_000, () => {
      payoutLimits.rules.stoppedAt = Infinity
    })
  },
  'payer-blacklisted'({ chain, time }, _, { which, lastsSeconds }) {
    chain.token.blacklist.add(walletOf(which).toLowerCase())
    time.later(lastsSeconds * 10_000, () =>
      chain.token.blacklist.delete(walletOf(which).toLowerCase()),
    )
  },
}

function startLater(world: World, node: StoreNode, { lastsSeconds }: FaultSpec): void {
  world.time.later(lastsSeconds * 1_000, () => node.start())
}

function down(part: keyof World['sky']['down']): Strike {
  return ({ sky, time }, _, { lastsSeconds }) => {
    sky.down[part] = Math.max(sky.down[part], time.time() + lastsSeconds * 1_000)
  }
}

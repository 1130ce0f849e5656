import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '../test/harness/proxy.ts'
import { seeded } from '../test/model/random.ts'
import type { Parts } from './parts.ts'
import { pick, weighted } from './purchase.ts'

/** How often each part was killed. */
export type Kills = Record<keyof typeof shares, number>

/** Percentages of all kills. Nodes are killed most often, because they can do most harm. */
const shares = { nodes: 66, postgres: 18, supplier: 7, btcpay: 6, chain: 3 } as const
/** The longest time that a killed part stays away, without the time of its start. */
const maxDownMs = 1_500

export interface Killing {
  readonly seed: number
  readonly kills: number
  /** The share of the purchases that have begun, from 0 to 1. */
  readonly progress: () => number
  readonly cancelled: AbortSignal
}

/**
 * Kills parts, evenly over all purchases: at first each of them once, then parts drawn by their shares. A
 * killed node may still be down when it returns.
 */
export async function killAgainAndAgain(
  parts: Pick<Parts, 'nodes' | 'database' | 'supplier' | 'btcpay' | 'chain'>,
  { seed, kills, progress, cancelled }: Killing,
): Promise<Kills> {
  const random = seeded(seed ^ 0x6b696c6c)
  const done: Kills = { nodes: 0, postgres: 0, supplier: 0, btcpay: 0, chain: 0 }
  const kill: Record<keyof Kills, (downMs: number) => Promise<void>> = {
    nodes: (downMs) => pick(random, parts.nodes).kill(downMs),
    postgres: parts.database.kill,
    supplier: parts.supplier.kill,
    btcpay: parts.btcpay.kill,
    chain: parts.chain.kill,
  }
  const spared = Object.keys(done) as (keyof Kills)[]
  for (let count = 0; count < kills; count += 1) {
    while (progress() < count / kills && !cancelled.aborted) await delay(100)
    if (cancelled.aborted) return done
    const part = spared.shift() ?? weighted(random, shares)
    await kill[part](random() * maxDownMs)
    done[part] += 1
  }
  return done
}

/** Faults of the supplier itself, one of which applies at a time; often `ok`. */
const supplierFaults = [
  { mode: 'ok' },
  { mode: 'ok' },
  { mode: 'ok' },
  { mode: 'down', only: 'purchases' },
  { mode: 'drop', only: 'purchases' },
  { mode: 'slow', only: 'purchases', delayMs: 400 },
  { mode: 'slow', only: '', delayMs: 1_200 },
] as const

/** Faults of a connection: the share of calls that do not arrive, and of answers that do not. */
interface Wire {
  readonly calls: RegExp
  readonly swallowed: number
  readonly answerLost: number
}

const goodWire: Wire = { calls: /./, swallowed: 0, answerLost: 0 }
const supplierWires: readonly Wire[] = [
  goodWire,
  goodWire,
  { calls: /^POST .*purchases/, swallowed: 0, answerLost: 1 },
  { calls: /purchases/, swallowed: 0.3, answerLost: 0.3 },
]
const chainWires: readonly Wire[] = [
  goodWire,
  goodWire,
  { calls: /./, swallowed: 0.04, answerLost: 0.04 },
  { calls: /^eth_sendRawTransaction$/, swallowed: 0, answerLost: 1 },
  { calls: /^eth_sendRawTransaction$/, swallowed: 1, answerLost: 0 },
  { calls: /^eth_getTransactionReceipt$|^eth_getLogs$/, swallowed: 0.5, answerLost: 0 },
]

/** Changes the faults of supplier and connections every one to three seconds until the signal aborts. */
export async function forceFaults(
  { proxies, supplier }: Pick<Parts, 'proxies' | 'supplier'>,
  { seed, until }: { readonly seed: number; readonly until: AbortSignal },
): Promise<void> {
  const random = seeded(seed ^ 0x77696e64)
  while (!until.aborted) {
    await setSupplierFault(supplier, pick(random, supplierFaults))
    proxies.supplier.breakCalls(faultsOf(pick(random, supplierWires), random))
    proxies.chain.breakCalls(faultsOf(pick(random, chainWires), random))
    await delay(800 + random() * 1_700, undefined, { signal: until }).catch(() => {})
  }
  proxies.supplier.breakCalls()
  proxies.chain.breakCalls()
  await setSupplierFault(supplier, { mode: 'ok' })
}

function faultsOf(wire: Wire, random: () => number): (call: string) => Fault {
  return (call) => {
    if (!wire.calls.test(call)) return 'none'
    const at = random()
    if (at < wire.swallowed) return 'swallow'
    return at < wire.swallowed + wire.answerLost ? 'lose_answer' : 'none'
  }
}

async function setSupplierFault({ url, apiKey }: Parts['supplier'], fault: object): Promise<void> {
  const response = await fetch(new URL('/_admin/faults', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  }).catch(() => undefined)
  // A killed supplier comes back without faults.
  if (response && !response.ok)
    throw new Error(`The supplier's admin side answered ${response.status}.`)
}

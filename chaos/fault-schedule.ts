import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '../test/harness/proxy.ts'
import { seeded } from '../test/model/random.ts'
import type { Parts } from './parts.ts'
import { pick } from './plan.ts'

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

/** Changes the external faults every one to three seconds until the signal aborts. Returns the number of changes. */
export async function runFaultSchedule(
  { proxies, supplier }: Pick<Parts, 'proxies' | 'supplier'>,
  { seed, until }: { readonly seed: number; readonly until: AbortSignal },
): Promise<number> {
  const random = seeded(seed ^ 0x77696e64)
  let changes = 0
  while (!until.aborted) {
    await setSupplierFault(supplier, pick(random, supplierFaults))
    proxies.supplier.breakCalls(faultsOf(pick(random, supplierWires), random))
    proxies.chain.breakCalls(faultsOf(pick(random, chainWires), random))
    changes += 1
    await delay(800 + random() * 1_700, undefined, { signal: until }).catch(() => {})
  }
  proxies.supplier.breakCalls()
  proxies.chain.breakCalls()
  await setSupplierFault(supplier, { mode: 'ok' })
  return changes
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
  if (response === undefined) return
  if (!response.ok) throw new Error(`The supplier's admin side answered ${response.status}.`)
}

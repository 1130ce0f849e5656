import { parentPort, workerData } from 'node:worker_threads'
import type { Wanted } from './arguments.ts'
import { examine } from './examine.ts'

/**
 * The examination as a thread of its own. What a stranger sends is parsed and validated here, against
 * schemas that it wrote itself; only a thread can be ended when that takes for ever.
 */
const { origin, publicOrigin, metrics } = workerData as Omit<Wanted, 'json'>
parentPort?.postMessage(await examine(origin, publicOrigin, metrics))

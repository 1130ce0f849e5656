import { parentPort, workerData } from 'node:worker_threads'
import type { Wanted } from './arguments.ts'
import { examine } from './examine.ts'

/**
 * The examination, in a thread of its own. It parses what the store sends, and validates it against schemas
 * that the store itself wrote; if that never ends, only a thread can be terminated.
 */
const { origin, publicOrigin, metrics } = workerData as Omit<Wanted, 'json'>
parentPort?.postMessage(await examine(origin, publicOrigin, metrics))

import type { Operation } from '../../src/api/operation.ts'
import { buyingCalls } from './buying.ts'
import type { Call } from './call.ts'
import { limitCalls } from './limits.ts'
import { orderCalls } from './orders.ts'
import { readingCalls } from './reading.ts'
import { refusalCallsOf } from './refusals.ts'

const good: readonly Call[] = [...readingCalls, ...buyingCalls, ...orderCalls, ...limitCalls]

/** All calls whose answers are examples, operation by operation. */
export function callsOf(operations: readonly Operation[]): readonly Call[] {
  return operations.flatMap((operation) => [
    ...good.filter((call) => call.operation === operation.id),
    ...refusalCallsOf(operation),
  ])
}

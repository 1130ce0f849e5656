import { expect, test } from 'vitest'
import { leaseMs } from '../../orders/workflow.ts'
import { supplierTimeoutMs } from '../../suppliers/supplier.ts'
import { maxStepMs, withinStep } from './within-step.ts'

test('two steps at the chain and a call to the supplier end before the lease of their order', () => {
  expect(2 * maxStepMs + supplierTimeoutMs).toBeLessThan(leaseMs)
})

test('a step that takes too long is not waited for', async () => {
  expect(await withinStep(new Promise(() => {}), 'late', 1)).toBe('late')
})

test('what a step says in time is what it is', async () => {
  expect(await withinStep(Promise.resolve('done'), 'late', 60_000)).toBe('done')
  await expect(withinStep(Promise.reject(new Error('no')), 'late')).rejects.toThrow('no')
})

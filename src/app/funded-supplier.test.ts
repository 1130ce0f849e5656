import { expect, test } from 'vitest'
import { orderWorld } from '../../test/doubles/orders.ts'
import type { Health } from '../health/health.ts'
import { noFundsCode } from '../suppliers/supplier.ts'
import { fundedSupplier } from './supply.ts'

const order = {
  reference: 'r',
  kind: 'esim',
  product: 'E',
  recipient: { kind: 'esim' },
  isRepeat: false,
  notAfter: new Date(0),
} as const

test.each(['place', 'lookup'] as const)(
  'reports only refusals for insufficient funds, by reference: %s',
  async (call) => {
    const { deps, supplier: plain, script } = orderWorld()
    const told: string[] = []
    const noteFundsRefusal: Health['noteFundsRefusal'] = (name, { reference }) =>
      void told.push(name, reference)
    const supplier = fundedSupplier(
      'acme',
      plain,
      { noteFundsRefusal, noteFundsTaken: () => undefined },
      deps.now,
    )
    const ask = () => (call === 'place' ? supplier.place(order) : supplier.lookup('esim', 'r'))
    for (const code of ['NOT_FOUND', noFundsCode]) {
      const declined = { outcome: 'declined', code, reason: 'no' } as const
      script.placed = declined
      script.held = declined
      expect(await ask()).toBe(declined)
    }
    expect(told).toEqual(['acme', 'r'])
  },
)

test('reports a delivery by its reference', async () => {
  const { deps, supplier: plain } = orderWorld()
  const told: string[] = []
  const noteFundsTaken = (name: string, reference: string) => void told.push(name, reference)
  const health = { noteFundsRefusal: () => undefined, noteFundsTaken }
  const supplier = fundedSupplier('acme', plain, health, deps.now)
  await supplier.place(order)
  expect(told).toEqual([])
  await supplier.lookup('esim', 'r')
  expect(told).toEqual(['acme', 'r'])
})

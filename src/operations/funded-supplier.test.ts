import { expect, test } from 'vitest'
import { orderWorld } from '../../test/doubles/orders.ts'
import { noFundsCode } from '../orders/ports.ts'
import { fundedSupplier } from './funded-supplier.ts'

const order = {
  reference: 'r',
  kind: 'esim',
  offerId: 'E' as never,
  recipient: { kind: 'esim' },
  isRepeat: false,
  notAfter: new Date(0),
} as const

test.each(['place', 'lookup'] as const)(
  'a refusal for want of funds is told by its reference, and no other: %s',
  async (call) => {
    const { deps, script } = orderWorld()
    const told: string[] = []
    const noteFundsRefusal = ({ reference }: { reference: string }) => void told.push(reference)
    const supplier = fundedSupplier(
      deps.supplier,
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
    expect(told).toEqual(['r'])
  },
)

test('a delivery is told by its reference', async () => {
  const { deps } = orderWorld()
  const told: string[] = []
  const noteFundsTaken = (reference: string) => void told.push(reference)
  const health = { noteFundsRefusal: () => undefined, noteFundsTaken }
  const supplier = fundedSupplier(deps.supplier, health, deps.now)
  await supplier.place(order)
  expect(told).toEqual([])
  await supplier.lookup('esim', 'r')
  expect(told).toEqual(['r'])
})

import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { esim } from '../../test/fixtures/offers.ts'
import { itemOf } from '../orders/price.ts'
import { createVault } from '../secrets/secrets.ts'
import { boughtOf } from './bought.ts'

test('what was bought is told from its record: where it is for, and when it becomes slow', () => {
  const offer = esim('PLAN', { country: 'JP', notes: 'After 1 GB: 512 kbps.' })
  const item = itemOf({ offer, lineItem: { recipient: { kind: 'esim' }, value: undefined } })
  const vault = createVault([Buffer.alloc(32, 7)])
  expect(boughtOf({ vault }, { orderId: newOrderId(), item, recipient: undefined })).toMatchObject({
    kind: 'esim',
    brandName: offer.brandName,
    country: 'JP',
    fairUse: 'After 1 GB: 512 kbps.',
    offer: { kind: 'esim', country: 'JP', price: offer.price, allowance: offer.allowance },
  })
})

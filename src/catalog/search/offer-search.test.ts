import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing, voucher } from '../../../test/fixtures/offers.ts'
import { goods } from '../kinds.ts'

test('proposes the words of a text that find something', () => {
  const words = [...'abcdefghijklmnop']
  const description = words.map((letter) => `${letter}x`).join(' ')
  const { sold } = catalogOf([voucher('V', { description })], fixturePricing())
  const given = new Map([['search', `${words.join(' ')} zz`]])
  const nearest = words.join(' ')
  expect(goods.voucher.search.values(() => given, sold.voucher).hint()).toEqual({
    parameter: 'search',
    nearest,
    message: `No vouchers have search "${nearest} zz". These find some: ${nearest}. Check that one of them is of use.`,
  })
})

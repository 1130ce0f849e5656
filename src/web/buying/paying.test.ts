import { expect, test } from 'vitest'
import { checkoutDesk } from '../../../test/fixtures/checkouts.ts'
import { website } from '../frame/website.fixture.ts'

test('x', async () => {
  const { get } = website({ checkout: checkoutDesk().desk })
  const one = await get('/buy/AMZ_US_25')
  expect(one.statusCode).toBe(200)
  const two = await get('/pay/chk_00000000000000000000000001')
  expect(two.statusCode).toBe(200)
  console.log(one.body.length, two.body.slice(1500, 6000))
})

import { describe, expect } from 'vitest'
import { coins } from '../../../../src/payments/coins.ts'
import { noBrowser } from '../../../harness/browser.ts'
import type { Kind } from '../../requests.ts'
import { expectGoods, fillIn, startPayment, testOffer } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test, parts } = browserStories()
const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

describe.skipIf(noBrowser !== undefined)('from the form to the goods', () => {
  const each = kinds.flatMap((kind) => coins.map((coin) => ({ kind, coin })))

  test.concurrent.for(each)('a $kind paid in $coin', async ({ kind, coin }, { visit }) => {
    const { page } = await visit()
    const { store } = parts
    const { invoice, amount } = await startPayment(page, store, coin, { kind })
    await store.btcpay(`/invoices/${invoice}/pay`, { amount })
    await expectGoods(page, kind)
  })

  test.concurrent.for(kinds)(
    'a %s paid in USDC from a wallet',
    async (kind, { visitWithWallet }) => {
      const { page, paid } = await visitWithWallet()
      await page.goto(`/buy/${testOffer(kind)}`)
      await fillIn(page, kind)
      await page.locator('#pay-USDC').check()
      await page.getByRole('button', { name: 'Pay 0.50 USDC' }).click()
      await expectGoods(page, kind)
      expect(await paid()).toEqual([500_000n])
    },
  )
})

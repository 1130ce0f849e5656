import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { expectGoods, fillIn, formFor, idIn, madeFor, shownPayment, testOffer } from './shopping.ts'
import { browserStories, type Visit } from './visit.ts'

const { test, parts } = browserStories()
const price = 500_000n
const purchases = '**/api/catalog/vouchers/purchase/info'

/** The form of a voucher, filled in, with the wallet chosen. */
async function walletForm(page: Page) {
  await page.goto(`/buy/${testOffer('voucher')}`)
  await fillIn(page, 'voucher')
  await page.locator('#pay-USDC').check()
  return page.getByRole('button', { name: /^(Pay|Try again)/ })
}

const toPayment = (page: Page) => page.getByRole('button', { name: 'Continue' })

const signings = (calls: readonly string[]) =>
  calls.filter((method) => method === 'eth_signTypedData_v4').length

/** A tab as a browser duplicates it: the very same form again, its key too. */
async function sameForm({ newTab, page }: Visit): Promise<Page> {
  const html = await (await page.request.get(page.url())).text()
  const other = await newTab()
  for (const tab of [page, other]) {
    await tab.route(page.url(), (route, request) =>
      request.method() === 'GET'
        ? route.fulfill({ body: html, contentType: 'text/html; charset=utf-8' })
        : route.fallback(),
    )
  }
  return other
}

describe.skipIf(noBrowser !== undefined)('back and reload', () => {
  test.concurrent('at every step in a coin lead on, and make one checkout', async ({ visit }) => {
    const { page } = await visit()
    const refundTo = await formFor(page, 'BTC')
    await toPayment(page).click()
    await page.waitForURL('**/pay/*')
    const first = await shownPayment(page, parts.store)

    await page.reload()
    expect(await shownPayment(page, parts.store)).toEqual(first)
    await page.goBack()
    expect(await page.getByLabel('First name').inputValue()).toBe('Ada')
    expect(await page.locator('#refundTo-BTC').inputValue()).toBe(refundTo)
    expect(await page.locator('#pay-BTC').isChecked()).toBe(true)
    await toPayment(page).click()
    await page.waitForURL('**/pay/*')
    expect(await shownPayment(page, parts.store)).toEqual(first)

    await parts.store.btcpay(`/invoices/${first.invoice}/pay`)
    await page.waitForURL('**/orders/*')
    await page.reload()
    await page.waitForSelector('.stage.delivered')
    // Going back shows what was paid, and asks for nothing.
    await page.goBack()
    await page.waitForURL(/\/(orders|buy)\//)
    await page.goForward()
    await expectGoods(page, 'voucher')
    await page.reload()
    await page.waitForSelector('.yours.open')
    expect(await madeFor(parts.store, refundTo)).toEqual({ checkouts: 1, orders: 1 })
  })
})

describe.skipIf(noBrowser !== undefined)('two tabs', () => {
  test.concurrent('of one form with a wallet make one payment, and both come to the order', async ({
    visitWithWallet,
  }) => {
    const visited = await visitWithWallet()
    const { page, paid } = visited
    await page.goto(`/buy/${testOffer('voucher')}`)
    const tabs = [page, await sameForm(visited)]
    const buttons = [await walletForm(page), await walletForm(tabs[1] ?? page)]
    await Promise.all(buttons.map((button) => button.click()))
    await Promise.all(tabs.map((tab) => tab.waitForURL('**/orders/*')))
    expect(new Set(tabs.map(idIn)).size).toBe(1)
    for (const tab of tabs) await expectGoods(tab, 'voucher')
    expect(await paid()).toEqual([price])
  })
})

describe.skipIf(noBrowser !== undefined)('a tab that is closed in the middle of paying', () => {
  test.concurrent('before the answer came back: the same payment goes on', async ({
    visitWithWallet,
  }) => {
    const { page, newTab, wallet, paid } = await visitWithWallet()
    const button = await walletForm(page)
    const sent: (string | undefined)[] = []
    const cut = new Promise<void>((done) => {
      void page.route(purchases, async (route, request) => {
        const header = request.headers()['payment-signature']
        if (header === undefined) return route.fallback()
        sent.push(header)
        // A request that is left waiting would go out when its page closes.
        await route.fetch()
        done()
      })
    })
    await button.click()
    await cut
    await page.close()

    const again = await newTab()
    again.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.headers()['payment-signature'])
    })
    await again.goto(`/buy/${testOffer('voucher')}`)
    await expectGoods(again, 'voucher')
    expect(new Set(sent.filter((header) => header !== undefined)).size).toBe(1)
    expect([await paid(), signings(wallet.calls)]).toEqual([[price], 1])
  })
})

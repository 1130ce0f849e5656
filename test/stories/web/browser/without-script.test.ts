import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { eventually } from '../../requests.ts'
import { expectGoods, formFor, shownPayment } from './shopping.ts'
import { browserStories, type Visit } from './visit.ts'

const { test, parts } = browserStories()
const off = { javaScriptEnabled: false }

/** From the form to the page of the order, as a browser goes that runs no script. */
async function bought({ page }: Visit, outcome = 'OK') {
  await formFor(page, 'LTC', 'voucher', outcome)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/pay/*')
  const { invoice } = await shownPayment(page, parts.store)
  const link = String(await page.locator('#link').textContent())
  await parts.store.btcpay(`/invoices/${invoice}/pay`)
  await loadUntil(page, '.stage')
  return { link, order: page.url() }
}

/** Loads the page again, as its reader or its own refresh does, until it shows what is meant. */
async function loadUntil(page: Page, selector: string): Promise<void> {
  const load = async () => {
    await page.reload()
    return page.locator(selector).count()
  }
  await eventually(load, (count) => count > 0)
}

describe.skipIf(noBrowser !== undefined)('without script', () => {
  test.concurrent('a voucher is bought, shown, and opened again by its link', async ({ visit }) => {
    const visited = await visit(off)
    const { page } = visited
    const { link, order } = await bought(visited)
    expect(order).toContain('/orders/')
    await loadUntil(page, '.stage.delivered')
    await expectGoods(page, 'voucher')

    const other = (await visit(off)).page
    await other.goto(link)
    // What stands behind the # never leaves the browser, so the link is pasted.
    const paste = other.getByLabel('Private link')
    await paste.fill('kat_wrong')
    await other.getByRole('button', { name: 'Open' }).click()
    await other.getByText('doesn’t match').waitFor()
    await paste.fill(link)
    await other.getByRole('button', { name: 'Open' }).click()
    await expectGoods(other, 'voucher')
  })
})

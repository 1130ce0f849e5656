import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  checkoutId,
  checkoutService,
  checkoutToken,
  checkoutView,
} from '../../../test/fixtures/checkouts.ts'
import { fixtureNow } from '../../../test/fixtures/offers.ts'
import { noBrowser, openBrowser } from '../../../test/harness/browser.ts'
import { installWallet } from '../../../test/harness/wallet.ts'
import { website } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'

const t = textsIn('en')

const expiresAt = new Date(fixtureNow.getTime() + 90_000)
const store = website({
  checkout: checkoutService(checkoutView('waiting', { invoice: { expiresAt } })).checkouts,
})

describe.skipIf(noBrowser !== undefined)('the scripts of the pages in a real browser', () => {
  let browser: Browser
  let url: string
  beforeAll(async () => {
    url = await store.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await store.app.close()
  })

  test('a sign-in that was refused says so, with a wallet in the browser', async () => {
    const context = await browser.newContext()
    await installWallet(context, { privateKey: `0x${'1'.repeat(64)}`, name: 'One' })
    const page = await context.newPage()
    await page.goto(`${url}/find`)
    await page.getByRole('button', { name: 'Sign in with One' }).waitFor()
    const said = page.locator('[data-sign-in] [role=status]')
    expect(await said.textContent()).toBe('')
    await page.evaluate(`document.querySelector('[data-sign-in]').submit()`)
    await page.waitForURL('**/find/wallet')
    await page.getByRole('button', { name: 'Sign in with One' }).waitFor()
    expect(await said.textContent()).toBe(t('find.wallet.failed'))
    expect(await said.getAttribute('class')).toBe('wrong')
  })

  test('the time to pay is counted down, and its end is written and spoken', async () => {
    const context = await browser.newContext({
      extraHTTPHeaders: { cookie: `access=${checkoutToken}` },
    })
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(`${url}/pay/${checkoutId}`)
    const left = page.locator('.left')
    const spoken = page.getByRole('status').getByText(t('pay.stages.expired.say'))
    await page.clock.runFor(60_000)
    expect(await left.textContent()).toMatch(/^0:(29|30) left$/)
    expect(await spoken.count()).toBe(0)
    await page.clock.runFor(60_000)
    expect(await left.textContent()).toBe(t('pay.stages.expired.say'))
    expect(await spoken.count()).toBe(1)
  })
})

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkoutService } from '../../../../test/fixtures/checkouts.ts'
import { noBrowser, openBrowser } from '../../../../test/harness/browser.ts'
import { installWallet, type WalletOptions } from '../../../../test/harness/wallet.ts'
import { networks } from '../../../payments/networks.ts'
import { website } from '../../frame/website.fixture.ts'
import { textsIn } from '../../texts/texts.ts'

const t = textsIn('en')

const privateKey = `0x${'1'.repeat(64)}` as const
const payTo = '0x1111111111111111111111111111111111111111'

/** The store, with a purchase API whose answers a test sets */
const store = website({ checkout: checkoutService().checkouts })
const payments: string[] = []
let isSilent = false
store.app.post('/api/catalog/:kind/purchase/info', (request, reply) => {
  const { id: network, usdc: asset, usdcDomain: extra } = networks.base
  const header = request.headers['payment-signature']
  if (header === undefined) {
    const terms = { scheme: 'exact', network, asset, payTo, maxTimeoutSeconds: 300, extra }
    const isCard = request.url.includes('/vouchers/')
    const accepts = [{ ...terms, amount: isCard ? '25000000' : '5000000' }]
    return reply.code(402).send({ x402Version: 2, error: 'Payment required', accepts })
  }
  payments.push(String(header))
  return isSilent
    ? reply.code(503).send({ code: 'try_again', charged: 'unknown' })
    : reply.code(202).send({ orderId: 'ord_1', accessToken: 'kat_1' })
})
const orderPage = '<!doctype html><title>Order</title><h1>The order</h1>'
store.app.get('/orders/ord_1', (_, reply) => reply.type('text/html').send(orderPage))

async function fillNames(page: Page) {
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
}

/** Makes the store refuse the fields of every purchase of this page. */
async function refuse(page: Page) {
  const json = { code: 'invalid_body', charged: 'no' }
  await page.route('**/purchase/info', (route) => route.fulfill({ status: 422, json }))
}

/** A wallet that announces itself long after the page was loaded. */
const announceLate = `dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: {
  info: { uuid: 'late', name: 'Late Wallet', rdns: 'test.late' }, provider: { async request() {} },
} }))`

/** What a browser fires after going back to a page that it has kept as it was left. */
const comeBack = `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`

describe.skipIf(noBrowser !== undefined)('paying from a wallet in a real browser', () => {
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

  /** The page of an offer, filled in, with the wallet chosen. */
  async function filledIn(
    options: Partial<WalletOptions> = {},
    offerId = 'AMZ_US_25',
    at = url,
    before = '',
  ) {
    payments.length = 0
    isSilent = false
    const context = await browser.newContext()
    await context.addInitScript(before)
    const wallet = await installWallet(context, {
      privateKey,
      chainId: networks.base.chainId,
      balance: 30_000_000n,
      ...options,
    })
    const page = await context.newPage()
    page.on('dialog', (dialog) => dialog.accept())
    await page.goto(`${at}/buy/${offerId}`)
    await page.getByLabel('USDC on Base').check()
    if (offerId === 'AMZ_US_25') await fillNames(page)
    return { page, wallet, pay: page.getByRole('button', { name: /^(Pay|Try again)/ }) }
  }

  test('is not offered a signature where the browser stores nothing for the site', async () => {
    const blocked = `Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('blocked', 'SecurityError') },
    })`
    const { page, pay, wallet } = await filledIn({}, 'AMZ_US_25', url, blocked)
    await pay.click()
    await page.locator('#wallet-fault').getByText('This browser stores nothing').waitFor()
    expect(await pay.isEnabled()).toBe(true)
    expect(wallet.calls).not.toContain('eth_signTypedData_v4')
  })

  test('names the payment that is sent again, whatever wallet comes late or is pressed', async () => {
    const { page, pay } = await filledIn()
    await page.clock.install()
    isSilent = true
    await pay.click()
    await page.getByText('Sending your payment again').waitFor()
    const again = page.getByRole('button', { name: 'Send the same payment again' })
    while (!(await again.isVisible())) await page.clock.runFor(15_000)
    await page.evaluate(announceLate)
    await page.getByRole('button', { name: 'Late Wallet' }).click()
    expect(await again.isVisible()).toBe(true)
    isSilent = false
    await again.click()
    await page.waitForURL('**/orders/ord_1#kat_1')
    expect(new Set(payments).size).toBe(1)
  })

  test('is usable again when somebody comes back to the page as it was left', async () => {
    const { page, pay } = await filledIn()
    // The browser stays on the page, as if it had gone back to the kept page.
    await page.route('**/orders/ord_1', (route) => route.fulfill({ status: 204 }))
    await pay.click()
    await page.getByText('Paid. Opening your order').waitFor()
    // The page reloads, so the evaluated script must end before.
    const later = `setTimeout(() => ${comeBack})`
    await Promise.all([page.waitForEvent('load'), page.evaluate(later)])
    expect(await page.getByText('Paid. Opening your order').isVisible()).toBe(false)
    await page.getByLabel('USDC on Base').check()
    await fillNames(page)
    await page.unroute('**/orders/ord_1')
    await pay.click()
    await page.waitForURL('**/orders/ord_1#kat_1')
    expect(new Set(payments).size).toBe(2)
  })

  test('asks for a wallet where Enter is pressed before one was chosen', async () => {
    const context = await browser.newContext()
    const options = { privateKey, chainId: networks.base.chainId } as const
    await installWallet(context, { ...options, name: 'One' })
    await installWallet(context, { ...options, name: 'Two' })
    const page = await context.newPage()
    await page.goto(`${url}/buy/AMZ_US_25`)
    await page.getByLabel('USDC on Base').check()
    await page.getByLabel('First name').press('Enter')
    const told = page.getByText('Choose a wallet.')
    await told.waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('One')
    await page.getByRole('button', { name: 'Two' }).click()
    expect(await told.isVisible()).toBe(false)
    expect(await page.locator('#wallet-pay').textContent()).toBe('Pay 25.00 USDC')
  })

  test('takes a number that no plan has once it was ticked, and asks again for another', async () => {
    const { page, pay } = await filledIn({}, 'CLARO_GT_5')
    const bodies: unknown[] = []
    page.on('request', (sent) => {
      if (sent.url().endsWith('/purchase/info')) bodies.push(sent.postDataJSON())
    })
    await refuse(page)
    const press = () => Promise.all([page.waitForEvent('load'), pay.click()])
    const tick = page.getByLabel(t('form.numberIsRight'))
    expect(await tick.count()).toBe(0)
    await page.locator('#msisdn').fill('+502 1111 1111')
    await press()
    expect(await page.locator('#msisdn').inputValue()).toBe('+502 1111 1111')
    await tick.check()
    await press()
    await page.locator('#msisdn').fill('+502 1111 1112')
    await press()
    expect(await tick.isChecked()).toBe(false)
    const offerId = 'CLARO_GT_5'
    expect(bodies).toEqual([
      { offerId, msisdn: '+50211111111' },
      { offerId, msisdn: '+50211111111', confirmNumber: true },
      { offerId, msisdn: '+50211111112' },
    ])
  })

  test('tops up a number again that was topped up just before, once the button is pressed again', async () => {
    const { page, pay } = await filledIn({}, 'CLARO_GT_5')
    const bodies: unknown[] = []
    await page.route('**/purchase/info', (route) => {
      const isPaid = route.request().headers()['payment-signature'] !== undefined
      if (!isPaid) return route.fallback()
      bodies.push(route.request().postDataJSON())
      const json = { code: 'possible_duplicate', charged: 'no' }
      return route.fulfill({ status: 409, json })
    })
    const told = page.locator('#wallet-fault').getByText('less than two minutes ago')
    for (const number of ['+502 5123 4567', '+502 5123 4567', '+502 5123 4568']) {
      await page.locator('#msisdn').fill(number)
      await pay.click()
      await told.waitFor()
    }
    const [offerId, msisdn] = ['CLARO_GT_5', '+50251234567']
    expect(bodies).toEqual([
      { offerId, msisdn },
      { offerId, msisdn, confirmAnother: true },
      { offerId, msisdn: '+50251234568' },
    ])
  })

  test('says what the card receives in its own currency while an amount is typed', async () => {
    const { page } = await filledIn({}, 'IN_EUROS')
    const said = page.locator('#face-value')
    for (const [typed, text] of [
      ['25', 'You get about €21.50.'],
      ['2500', ''],
      ['500', 'You get about €430.'],
    ] as const) {
      await page.locator('#value').fill(typed)
      expect(await said.textContent()).toBe(text)
    }
  })
})

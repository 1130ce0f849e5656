import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { formatUnits, parseUnits } from '../../../../src/payments/coins.ts'
import { noBrowser } from '../../../harness/browser.ts'
import { ledgerOf } from '../../coins/person.ts'
import { eventually } from '../../requests.ts'
import { expectGoods, madeFor, type OpenPayment, startPayment } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test, parts } = browserStories()

const units = ({ amount }: OpenPayment) => parseUnits(amount, 'BTC')
const text = (amount: bigint) => formatUnits(amount, 'BTC')
const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor()
const pay = ({ invoice }: OpenPayment, how: object = {}) =>
  parts.store.btcpay(`/invoices/${invoice}/pay`, how)

/** A payment that is worth enough for parts of it to go back. */
const start = (page: Page) => startPayment(page, parts.store, 'BTC', { outcome: 'LOST' })

/** What went back to the person, as the ledger of the chain has it. */
async function back({ refundTo }: OpenPayment): Promise<bigint[]> {
  const { outgoing } = (await ledgerOf(parts.store)).BTC
  const own = outgoing.filter(({ address }) => address === refundTo)
  return own.map(({ amount }) => parseUnits(amount, 'BTC'))
}

describe.skipIf(noBrowser !== undefined)('a payment that is', () => {
  test.concurrent('too little is told with what is missing, and the rest pays it', async ({
    visit,
  }) => {
    const { page } = await visit()
    const payment = await start(page)
    const part = (units(payment) * 4n) / 5n
    await pay(payment, { amount: text(part) })
    await heading(page, 'Partial payment received')
    expect(await page.locator('#amount').textContent()).toBe(text(units(payment) - part))
    await page.getByText(`${text(part)} of ${payment.amount} BTC arrived`).waitFor()
    await pay(payment)
    await expectGoods(page, 'voucher')
    expect(await back(payment)).toEqual([])
    expect(await madeFor(parts.store, payment.refundTo)).toEqual({ checkouts: 1, orders: 1 })
  })

  test.concurrent('made twice buys the goods once, and the second is seen going back', async ({
    visit,
  }) => {
    const { page } = await visit()
    const payment = await start(page)
    await pay(payment)
    await page.waitForURL('**/orders/*')
    await pay(payment)
    await seenBack(page, payment, units(payment))
  })
})

/** The order is delivered, and its page tells of what is over and where it went. */
async function seenBack(page: Page, payment: OpenPayment, over: bigint): Promise<void> {
  // Where the rest is known by then, the page of the payment stays and tells of it.
  await page.locator('.returns, .stage').first().waitFor()
  const onward = page.getByRole('link', { name: 'Go to your order' })
  if (page.url().includes('/pay/')) await onward.click()
  await page.waitForURL('**/orders/*')
  // The page of an order that is delivered changes no more by itself.
  const look = async () => {
    await page.reload()
    const told = page.locator('section[aria-labelledby=returns]')
    return (await told.count()) > 0 ? await told.textContent() : ''
  }
  const told = await eventually(look, (seen) => /was refunded in the transaction/.test(seen ?? ''))
  expect(told).toContain(`${text(over)} BTC`)
  expect(told).toContain(payment.refundTo)
  await expectGoods(page, 'voucher')
  expect(await back(payment)).toEqual([over])
  expect(await madeFor(parts.store, payment.refundTo)).toEqual({ checkouts: 1, orders: 1 })
  // The page of the payment stays, for it tells of this money too.
  await page.goto(`/pay/${payment.id}`)
  await page.getByText('overpaid').waitFor()
}

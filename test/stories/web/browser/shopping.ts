import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { makeAddress } from '../../../../sandbox/btcpay/addresses.ts'
import type { Coin } from '../../../../src/payments/coins.ts'
import { type Kind, newNumber } from '../../requests.ts'
import type { Store } from '../../store.ts'

/** A test offer of a kind, as the supplier of the sandbox names it. */
export function testOffer(kind: Kind, outcome = 'OK'): string {
  return `TEST-${kind.toUpperCase()}-${outcome}`
}

/** Writes into the form of a test offer what it asks for. */
export async function fillIn(page: Page, kind: Kind): Promise<void> {
  if (kind === 'voucher') {
    await page.getByLabel('First name').fill('Ada')
    await page.getByLabel('Last name').fill('Lovelace')
    const email = page.getByLabel('E-mail address')
    if ((await email.count()) > 0) await email.fill('ada@example.com')
  }
  if (kind === 'topup') await page.getByLabel('Phone number to top up').fill(newNumber())
}

/** Chooses a coin and gives an address for money back, which is returned. */
export async function chooseCoin(page: Page, coin: Coin): Promise<string> {
  const refundTo = makeAddress(coin, 'visitor', randomUUID())
  await page.locator(`#pay-${coin}`).check()
  await page.locator(`#refundTo-${coin}`).fill(refundTo)
  return refundTo
}

/** The page of an offer, filled in for a coin and not sent. */
export async function formFor(page: Page, coin: Coin, kind: Kind = 'voucher', outcome = 'OK') {
  await page.goto(`/buy/${testOffer(kind, outcome)}`)
  await fillIn(page, kind)
  return chooseCoin(page, coin)
}

export interface OpenPayment {
  /** Of the checkout. */
  readonly id: string
  readonly invoice: string
  readonly refundTo: string
  /** As the page shows them. */
  readonly amount: string
  readonly address: string
}

/** From the form to the page of the payment, with the amount and the address in it. */
export async function startPayment(
  page: Page,
  store: Store,
  coin: Coin,
  { kind = 'voucher', outcome = 'OK' }: { kind?: Kind; outcome?: string } = {},
): Promise<OpenPayment> {
  const refundTo = await formFor(page, coin, kind, outcome)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/pay/*')
  return { ...(await shownPayment(page, store)), refundTo }
}

/** What a page of a payment shows, and the invoice behind it. */
export async function shownPayment(
  page: Page,
  store: Store,
): Promise<Omit<OpenPayment, 'refundTo'>> {
  const amount = (await page.locator('#amount').textContent()) ?? ''
  const address = (await page.locator('#address').textContent()) ?? ''
  const id = idIn(page)
  const [row] = await store.query('select doc from checkouts where id = $1', [id])
  const { invoice } = row.doc
  expect(address).toBe(invoice.address)
  return { id, invoice: invoice.id, amount, address }
}

/** The last part of the address that the page stands at. */
export function idIn(page: Page): string {
  return new URL(page.url()).pathname.split('/')[2] ?? ''
}

const goods: Readonly<Record<Kind, RegExp>> = {
  voucher: /SBX-/,
  topup: /Credited/,
  esim: /LPA:1\$/,
}

/** Waits for the order to be delivered, opens the goods and looks at them. */
export async function expectGoods(page: Page, kind: Kind): Promise<void> {
  await page.waitForURL('**/orders/*')
  await page.waitForSelector('.stage.delivered')
  await page.locator('.yours button').click()
  await page.waitForSelector('.yours.open')
  expect(await page.locator('.yours.open').textContent()).toMatch(goods[kind])
}

/** The checkouts whose money goes back to this address, and the orders that came of them. */
export async function madeFor(store: Store, refundTo: string) {
  const checkouts = await store.query('select order_id from checkouts where refund_to = $1', [
    refundTo,
  ])
  const ids = checkouts.map(({ order_id }) => order_id)
  const orders = await store.query('select id from orders where id = any($1)', [ids])
  return { checkouts: checkouts.length, orders: orders.length }
}

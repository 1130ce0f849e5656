import { afterAll, test as always, beforeAll, describe, expect } from 'vitest'
import { noBrowser } from '../../harness/browser.ts'
import { openShop, type Shop, viewports } from './shop.ts'

const test = always.skipIf(noBrowser)

let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    STORE_NAME: 'Corner Shop',
    STORE_COLOR: '#ffe000',
    STORE_CONTACT: 'help@corner.example',
    TERMS_URL: 'https://corner.example/terms',
  })
})
afterAll(() => shop.close())

/** Everything here is promised to work without script. */
describe.each([true, false])('with script %s', (javaScriptEnabled) => {
  test('a visitor finds an offer from the front page on, narrows down, and goes back', async () => {
    const { page, wrong, close } = await shop.visit({ javaScriptEnabled })
    await page.goto('/')
    await page.getByLabel('Brand, operator or keyword').fill('amazon')
    await page.getByLabel('Country', { exact: true }).selectOption('US')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/\/search\?q=amazon&country=US/)
    const total = await page.locator('.offer-card').count()
    expect(total).toBeGreaterThan(0)
    await page.locator('.facet a').first().click()
    await page.waitForURL(/&(category|min|amount|brand)=/)
    await page.goBack()
    expect(await page.getByLabel('Brand, operator or keyword').inputValue()).toBe('amazon')
    expect(await page.locator('.offer-card').count()).toBe(total)
    await page.locator('.offer-card').first().click()
    await page.waitForURL(/\/buy\//)
    expect(wrong.filter((line) => !line.startsWith('asked'))).toEqual([])
    await close()
  })

  test('what is wrong stands beside its field, and what was typed stays', async () => {
    const { page, close } = await shop.visit({ javaScriptEnabled })
    await page.goto('/search?kind=voucher&country=US')
    await page.getByLabel('From').fill('ten')
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    const field = page.getByLabel('From')
    expect(await field.inputValue()).toBe('ten')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const told = await page.locator('#min-fault').textContent()
    expect(told).toContain('“ten” is not an amount')
    // What cannot be read is no search, so nothing is shown that was not asked for.
    expect(await page.locator('.offer-card').count()).toBe(0)
    await close()
  })
})

test('on a phone, a keyboard alone is enough', async () => {
  const { page, close } = await shop.visit({ viewport: viewports.phone })
  await page.goto('/')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type('orange')
  await page.keyboard.press('Enter')
  await page.waitForURL(/q=orange/)
  await close()
})

test('things to press are large enough for a thumb', async () => {
  const { page, close } = await shop.visit({ viewport: viewports.phone })
  for (const path of ['/', '/search?kind=voucher&country=US']) {
    await page.goto(path)
    const small =
      await page.evaluate(`[...document.querySelectorAll('nav a, button, summary, select, .facet a, .sorts a, .button, .offer-card')]
      .filter((each) => each.offsetParent !== null && !each.closest('.crumbs') && each.getBoundingClientRect().height < 43.5)
      .map((each) => each.outerHTML.slice(0, 90))`)
    expect(small, path).toEqual([])
  }
  await close()
})

test('the store goes by the name, the contact and the terms of its operator', async () => {
  const { page, close } = await shop.visit()
  await page.goto('/')
  expect(await page.title()).toBe('Corner Shop')
  expect(await page.getByRole('link', { name: 'Corner Shop' }).first().isVisible()).toBe(true)
  expect(await page.getByText('help@corner.example').first().isVisible()).toBe(true)
  await page.goto('/terms')
  const link = page.getByRole('link', { name: 'https://corner.example/terms' })
  expect(await link.getAttribute('href')).toBe('https://corner.example/terms')
  await close()
})

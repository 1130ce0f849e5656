import type { Browser } from 'playwright-core'
import { afterAll, test as always, beforeAll, expect } from 'vitest'
import { noBrowser, openBrowser } from '../harness/browser.ts'
import { openStore, type Store } from './store.ts'

const test = always.skipIf(noBrowser)

let store: Store
let browser: Browser

beforeAll(async () => {
  ;[store, browser] = await Promise.all([openStore(), openBrowser()])
})
afterAll(async () => {
  await browser.close()
  await store.close()
})

test('a browser shows what an operation does, asks nobody but the store, and is stopped nowhere', async () => {
  const page = await browser.newPage()
  const asked: string[] = []
  const wrong: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text())
  })
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('requestfailed', (request) => wrong.push(`${request.url()} failed`))
  await page.goto(`${store.url}/docs/api`)
  // What stands far below is made when somebody goes there.
  await page.getByRole('button', { name: 'Open Group - Buying' }).click()
  await page.getByRole('link', { name: 'Purchase a voucher' }).click()
  await page.getByRole('heading', { name: 'Purchase a voucher' }).waitFor()
  await page.getByText('purchaseVoucher').first().waitFor()
  const elsewhere = asked.filter((url) => !url.startsWith(store.url) && !url.startsWith('data:'))
  expect(elsewhere).toEqual([])
  expect(asked).toContain(`${store.url}/openapi.json`)
  expect(wrong).toEqual([])
})

import type { Browser, BrowserContextOptions } from 'playwright-core'
import { openBrowser } from '../../harness/browser.ts'
import { openStore } from '../store.ts'

/** A phone that is held upright, and a desktop screen. */
export const viewports = {
  phone: { width: 390, height: 844 },
  checkouts: { width: 1280, height: 900 },
} as const

/** A store with its shop, and a browser to walk through it. */
export async function openShop(env: Readonly<Record<string, string>> = {}) {
  const [store, browser] = await Promise.all([openStore({ env }), openBrowser()])
  return {
    store,
    browser,
    visit: (options: BrowserContextOptions = {}) => visitor(browser, store.url, options),
    async close() {
      await browser.close()
      await store.close()
    },
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>

/** A visitor of the store, and what was asked of anybody else or went wrong in the page. */
async function visitor(browser: Browser, url: string, options: BrowserContextOptions) {
  const context = await browser.newContext({
    viewport: viewports.checkouts,
    ...options,
    baseURL: url,
  })
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(url) || request.url().startsWith('data:')
    if (!isOurs) wrong.push(`asked ${request.url()}`)
  })
  page.on('console', (message) => {
    // A page that answers 400 or 404 is said to by the browser as well.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded')
    if (message.type() === 'error' && !isStatus) wrong.push(message.text())
  })
  page.on('pageerror', (error) => wrong.push(error.message))
  return { page, wrong, close: () => context.close() }
}

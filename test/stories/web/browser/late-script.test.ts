import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { eventually } from '../../requests.ts'
import { formFor } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test } = browserStories()

/** The whole page is seen, so every move of it counts. */
const viewport = { width: 390, height: 4_000 }

const noteMoves = `
globalThis.moves = []
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) moves.push(value)
}).observe({ type: 'layout-shift', buffered: true })`
const isPainted = 'performance.getEntriesByName("first-contentful-paint").length > 0'
/** Two frames: the browser tells of a move once it has painted it. */
const frames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Loads the page again with scripts that come only once it is painted, and gives its moves since. */
async function movesWithLateScripts(page: Page, ready: string): Promise<unknown> {
  const painted = Promise.withResolvers<void>()
  await page.addInitScript(noteMoves)
  await page.route('**/scripts/*', async (route) => {
    await painted.promise
    await route.continue()
  })
  await page.reload({ waitUntil: 'commit' })
  await eventually(() => page.evaluate(isPainted), Boolean)
  painted.resolve()
  await page.locator(ready).first().waitFor()
  await page.evaluate(frames)
  return page.evaluate('moves')
}

describe.skipIf(noBrowser !== undefined)('a page whose scripts come late', () => {
  test.concurrent('of an offer stays in its place when the wallet appears', async ({
    visitWithWallet,
  }) => {
    const { page } = await visitWithWallet({}, { viewport })
    await page.goto('/buy/TEST-VOUCHER-OK')
    expect(await movesWithLateScripts(page, '#wallet')).toEqual([])
  })

  test.concurrent('of a payment stays in its place when its buttons appear', async ({ visit }) => {
    const { page } = await visit({ viewport })
    await formFor(page, 'BTC', 'voucher', 'OK')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/pay/*')
    await page.locator('#address').waitFor()
    expect(await movesWithLateScripts(page, '.copy-button')).toEqual([])
  })
})

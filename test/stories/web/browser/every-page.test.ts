import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { axeFaults } from '../../../harness/axe.ts'
import { noBrowser } from '../../../harness/browser.ts'
import { stages } from './stages.ts'
import { browserStories } from './visit.ts'

/** A phone that is held upright, and a desktop screen. */
const phone = { width: 390, height: 844 }
const desktop = { width: 1280, height: 900 }

const { test, parts } = browserStories({ offers: 600 })

describe.skipIf(noBrowser !== undefined)('every page', () => {
  test.concurrent.for(stages)('$name', async ({ reach }, { visitWithWallet }) => {
    const visited = await visitWithWallet({}, { viewport: phone })
    const { page } = visited
    await reach(visited, parts.store)
    expect(await axeFaults(page)).toEqual([])
    expect(await smallButtons(page)).toEqual([])
    // The narrowest that nobody should have to scroll sideways on (WCAG 2.2, 1.4.10).
    for (const width of [phone.width, 320]) {
      await page.setViewportSize({ ...phone, width })
      expect(await widerThanItself(page), `at ${width}`).toEqual([])
    }
    await page.setViewportSize(desktop)
    expect(await axeFaults(page)).toEqual([])
  })
})

/** What stands out to the right, and makes the page scroll sideways. */
function widerThanItself(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    return [...document.body.querySelectorAll('*')]
      .filter((one) => one.getBoundingClientRect().right > clientWidth + 1)
      .map((one) => one.outerHTML.slice(0, 120))
  })()`)
}

/** Main buttons that a thumb could miss. */
function smallButtons(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('main .button')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
    .map((one) => one.outerHTML.slice(0, 120))`)
}

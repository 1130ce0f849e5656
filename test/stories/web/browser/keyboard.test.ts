import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { testOffer } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test } = browserStories()

interface Focus {
  readonly tag: string
  readonly id: string
  readonly text: string
  readonly isSeen: boolean
  readonly top: number
}

/** What has the focus, and whether a person sees that it has. */
function focus(page: Page): Promise<Focus> {
  return page.evaluate(`(() => {
    const one = document.activeElement
    // What is hidden behind its label shows the focus there.
    const shown = [one, ...(one.labels ?? []), one.closest('.way')].filter(Boolean)
    const rings = (each) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each)
      return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none'
    }
    const { top } = one.getBoundingClientRect()
    return {
      tag: one.tagName,
      id: one.id,
      text: (one.textContent ?? '').trim().slice(0, 60),
      isSeen: shown.some(rings),
      top: top + scrollY,
    }
  })()`)
}

/** Presses Tab until what has the focus is the one that is meant, and gives all that had it. */
async function tabTo(page: Page, isMeant: (one: Focus) => boolean): Promise<Focus[]> {
  const passed: Focus[] = []
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    const one = await focus(page)
    passed.push(one)
    if (isMeant(one)) return passed
  }
  throw new Error(`never came there: ${passed.map(({ tag, id, text }) => `${tag}#${id} ${text}`)}`)
}

const withId = (id: string) => (one: Focus) => one.id === id
const named = (text: string) => (one: Focus) => one.text.startsWith(text)

/** Everything on the way is seen to have the focus, and the way leads down the form. */
function expectGoodWay(passed: readonly Focus[]): void {
  expect(passed.filter(({ isSeen }) => !isSeen)).toEqual([])
  const tops = passed.map(({ top }) => top)
  expect(tops).toEqual([...tops].sort((one, other) => one - other))
}

/** From the top of the page of a voucher into its form, by the link that leads past the head. */
async function typeNames(page: Page): Promise<Focus[]> {
  await page.goto(`/buy/${testOffer('voucher')}`)
  await tabTo(page, named('Skip'))
  await page.keyboard.press('Enter')
  const passed = await tabTo(page, withId('firstName'))
  await page.keyboard.type('Ada')
  passed.push(...(await tabTo(page, withId('lastName'))))
  await page.keyboard.type('Lovelace')
  // One stop for all ways to pay: the arrows choose among them.
  passed.push(...(await tabTo(page, ({ id }) => id.startsWith('pay-'))))
  return passed
}

/** Shows the goods of the order that the page has come to, with the focus on them. */
async function reveal(page: Page): Promise<void> {
  await page.waitForURL('**/orders/*')
  await page.waitForSelector('.stage.delivered')
  await tabTo(page, named('Show the code'))
  await page.keyboard.press('Space')
  await page.waitForSelector('.yours.open')
  expect((await focus(page)).id).toBe('goods')
  expect(await page.textContent('.yours.open')).toContain('SBX-')
  await tabTo(page, named('Copy'))
}

describe.skipIf(noBrowser !== undefined)('with the keyboard alone', () => {
  test.concurrent('a voucher is bought with a wallet', async ({ visitWithWallet }) => {
    const { page, wallet, paid } = await visitWithWallet({ rejects: 'sign' })
    const passed = await typeNames(page)
    await page.keyboard.press('Space')
    expect(await page.locator('#pay-USDC').isChecked()).toBe(true)
    passed.push(...(await tabTo(page, named('Pay 0.50 USDC'))))
    expectGoodWay(passed)
    await page.keyboard.press('Enter')
    await page.getByText('You declined the signature in Test Wallet').waitFor()
    // The focus stays where the person goes on.
    expect(await focus(page)).toMatchObject({ text: 'Try again', isSeen: true })
    wallet.state.rejects = 'nothing'
    await page.keyboard.press('Enter')
    await reveal(page)
    expect(await paid()).toEqual([500_000n])
  })
})

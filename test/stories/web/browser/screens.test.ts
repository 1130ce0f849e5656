import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { stages } from './stages.ts'
import { browserStories } from './visit.ts'

/** `npm run screens` takes these pictures, for people to look at; a run of the tests takes none. */
const isAsked = process.env['SCREENS'] === 'record' && noBrowser === undefined
const folder = 'docs/screens'
const viewports = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
]
/** What is further down says little that a picture is needed for. */
const maxHeight = 1_400
const themes = ['light', 'dark'] as const

const { test, parts } = browserStories({ offers: 4_000 })

describe.skipIf(!isAsked)('a picture of every page', () => {
  beforeAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
  })

  const pictured = stages.filter(({ hasNoPicture }) => !hasNoPicture)

  test.concurrent.for(pictured)('$name', async ({ name, reach }, { visitWithWallet }) => {
    const visited = await visitWithWallet({}, { viewport: viewports[0] ?? null })
    const { page } = visited
    await reach(visited, parts.store)
    const debugging = await page.context().newCDPSession(page)
    for (const viewport of viewports) {
      await page.setViewportSize(viewport)
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const picture = await pictureOf(page, debugging)
        expect(picture.length).toBeGreaterThan(2_000)
        await writeFile(join(folder, `${name}-${colorScheme}-${viewport.width}.webp`), picture)
      }
    }
  })
})

/** The page from its top, as small as it can be looked at. */
async function pictureOf(page: Page, debugging: CDPSession): Promise<Buffer> {
  await page.evaluate('scrollTo(0, 0)')
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
  const { width } = page.viewportSize() ?? { width: 0 }
  const { data } = await debugging.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 60,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height: Math.min(whole, maxHeight), scale: 1 },
  })
  return Buffer.from(data, 'base64')
}

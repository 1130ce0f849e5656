import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What WCAG 2.2 AA asks for, and what axe calls good practice besides. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/**
 * What axe finds wrong with a page, in both themes; empty when nothing is. It is put into the page by
 * the debugger, which no policy of the page stops.
 */
export async function axeFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    // Colours that are on their way from one theme to the other belong to neither.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(source)
    const results = (await page.evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] })`,
    )) as Results
    for (const { id, help, nodes } of results.violations) {
      const where = nodes.map(({ html, failureSummary = '' }) => `${html}\n    ${failureSummary}`)
      faults.push(`${colorScheme}: ${id}: ${help}\n  ${where.join('\n  ')}`)
    }
  }
  return faults
}

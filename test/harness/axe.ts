import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of WCAG 2.2 AA, and the best practices of axe. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/**
 * The violations that axe finds on a page, in both themes. axe is evaluated over the debugging protocol, so
 * the page's CSP does not block it.
 */
export async function axeFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    // Reduced motion avoids transitions, whose colours belong to neither theme.
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

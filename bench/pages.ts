import { rm } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { atProcessor, choose, look } from '../sandbox/demo/person.ts'
import { storeAt } from '../sandbox/demo/store.ts'
import { newDataDir, startChildStore } from '../test/child-store.ts'
import { noBrowser, openBrowser } from '../test/harness/browser.ts'
import { amountOf, type Figure, quantile } from './figures.ts'
import { type Target, type Visit, visit } from './page-visit.ts'

const rounds = 5
const slowRounds = 3

/** The upper bounds of "good" in Web Vitals; the bound on the weight is our own. */
const bars = { kB: 100, lcp: 2_500, cls: 0.1, inp: 200 } as const

/**
 * The pages on which people buy, each in a real Chromium with an empty cache: the bytes on the wire, and
 * the Web Vitals. Without a browser the page says so instead.
 */
export async function measurePages(): Promise<Figure[]> {
  if (noBrowser !== undefined) {
    return [{ what: 'Pages in a browser', value: 'left out', note: noBrowser }]
  }
  const dataDir = await newDataDir()
  const store = await startChildStore({ dataDir, env: { TRUSTED_PROXIES: '1' } })
  const browser = await openBrowser()
  try {
    return await visitAll(browser, await pagesOf(store.url))
  } finally {
    await browser.close()
    await store.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

type Pages = Readonly<Record<string, Target>>

/** The pages from the front page to a delivered order, which is bought here with BTC. */
async function pagesOf(url: string): Promise<Pages> {
  const store = storeAt(url)
  const name = { firstName: 'Ada', lastName: 'Lovelace' }
  const waiting = await choose(store, 'TEST-VOUCHER-OK', name)
  const paid = await choose(store, 'TEST-VOUCHER-OK', name)
  await atProcessor(paid, 'pay')
  const order = await untilOrdered(() => look(store, paid.path, paid.cookie))
  await untilOrdered(async () => {
    const { html } = await look(store, order, paid.cookie)
    return { location: html.includes(`${order}/goods`) ? order : undefined }
  })
  const kept = (path: string, cookie: string) => {
    const [cookieName = '', value = ''] = cookie.split('=')
    return { cookie: { name: cookieName, value, path } }
  }
  return {
    Home: { url: `${url}/`, press: 'input[name="q"]' },
    'Search results': {
      url: `${url}/search?kind=voucher&country=US`,
      press: 'input[name="q"]',
    },
    'An offer and its form': { url: `${url}/buy/TEST-VOUCHER-OK`, press: 'label[for="pay-BTC"]' },
    'Paying in BTC': {
      url: `${url}${waiting.path}`,
      press: 'label[for="code-address"]',
      ...kept(waiting.path, waiting.cookie),
    },
    'A delivered order': { url: `${url}${order}`, press: 'h1', ...kept(order, paid.cookie) },
    'Finding an order': { url: `${url}/find`, press: 'h1' },
    'How it works': { url: `${url}/how-it-works`, press: 'h1' },
  }
}

/** In the sandbox a confirmation takes two seconds, and the delivery one more. Waits up to 30 s. */
async function untilOrdered(
  ask: () => Promise<{ readonly location: string | undefined }>,
): Promise<string> {
  for (let asked = 0; asked < 60; asked += 1) {
    const { location } = await ask()
    if (location !== undefined) return location
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('The order that is to be looked at was not delivered')
}

async function visitAll(browser: Browser, pages: Pages): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [what, target] of Object.entries(pages)) {
    // The store compresses a page at its first request and caches it, so the first visit is not counted.
    await visit(browser, target, { isSlow: false })
    figures.push(figureOf(what, await visits(browser, target, false)))
    figures.push(slowly(figureOf(`${what}, slow phone`, await visits(browser, target, true))))
  }
  return figures.map((figure, at) => (at === 0 ? { ...figure, note } : figure))
}

/** The emulated network delays the answer after its first byte, so TTFB means nothing here. */
function slowly({ details: { TTFB: _, ...details } = {}, ...figure }: Figure): Figure {
  return { ...figure, details }
}

async function visits(browser: Browser, target: Target, isSlow: boolean): Promise<Visit[]> {
  const made: Visit[] = []
  while (made.length < (isSlow ? slowRounds : rounds)) {
    made.push(await visit(browser, target, { isSlow }))
  }
  return made
}

/** One row; its bar is held if the weight and all vitals are within their bounds. */
export function figureOf(what: string, made: readonly Visit[]): Figure {
  const median = (part: keyof Visit) =>
    quantile(
      made.map((one) => one[part]),
      0.5,
    )
  const { kB, lcp, cls, inp } = bars
  return {
    what,
    value: amountOf(median('kB'), 'kB'),
    details: {
      Requests: String(median('requests')),
      TTFB: amountOf(median('ttfb'), 'ms'),
      LCP: amountOf(median('lcp'), 'ms'),
      CLS: median('cls').toFixed(3),
      INP: amountOf(median('inp'), 'ms'),
    },
    bar: `${kB} kB, LCP ${lcp} ms, CLS ${cls}, INP ${inp} ms`,
    held: (['kB', 'lcp', 'cls', 'inp'] as const).every((part) => median(part) <= bars[part]),
  }
}

const note = `Medians of ${rounds} visits (${slowRounds} on a slow phone) in Chromium, each with an empty cache. Measured is everything that comes over the wire, heads and compressed bodies of all requests. INP is that of one press: into the search field, on a coin, on the other code, else on the heading. A slow phone is the one of Lighthouse: a processor that is four times slower, and 1.5 Mbit/s with 560 ms to every first byte.`

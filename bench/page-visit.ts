import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'

/** The cost of one visit of a page: bytes and requests in total, and its Web Vitals. */
export interface Visit {
  readonly kB: number
  readonly requests: number
  /** Time to first byte, and Largest Contentful Paint; milliseconds. */
  readonly ttfb: number
  readonly lcp: number
  /** Cumulative Layout Shift, without a unit. */
  readonly cls: number
  /** From a press to the next paint; milliseconds. */
  readonly inp: number
}

export interface Target {
  readonly url: string
  /** The selector of an element to press that leads to no other page. */
  readonly press: string
  /** The cookie that opens a private page. */
  readonly cookie?: { readonly name: string; readonly value: string; readonly path: string }
}

/** A mid-range phone on a slow network, with the throttling of Lighthouse. */
const slow = {
  cpu: 4,
  network: {
    offline: false,
    latency: 562.5,
    downloadThroughput: (1_474.56 * 1_024) / 8,
    uploadThroughput: (675 * 1_024) / 8,
  },
}
const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}

/** Visits a page with an empty browser cache, and presses an element of it. */
export async function visit(
  browser: Browser,
  { url, press, cookie }: Target,
  { isSlow }: { readonly isSlow: boolean },
): Promise<Visit> {
  const context = await browser.newContext({
    ...(isSlow ? phone : { viewport: { width: 1_280, height: 800 } }),
    // A new address for each visit, so that no rate limit applies.
    extraHTTPHeaders: { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') },
  })
  try {
    if (cookie) await context.addCookies([{ ...cookie, domain: new URL(url).hostname }])
    const page = await context.newPage()
    await page.addInitScript(watchVitals)
    const session = await context.newCDPSession(page)
    if (isSlow) await slowDown(session)
    const bytes = await countBytes(session)
    const answer = await page.goto(url, { waitUntil: 'load' })
    if (!answer?.ok()) throw new Error(`${url} was answered ${answer?.status()}`)
    return { ...(await healthWith(page, press)), ...bytes() }
  } finally {
    await context.close()
  }
}

async function slowDown(session: CDPSession): Promise<void> {
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', slow.network)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slow.cpu })
}

/** Counts the bytes on the wire of all answers, heads and bodies, also of those that are still open. */
async function countBytes(session: CDPSession) {
  const answers = new Map<string, number>()
  session.on('Network.responseReceived', ({ requestId, response }) => {
    answers.set(requestId, response.encodedDataLength)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    answers.set(requestId, encodedDataLength)
  })
  await session.send('Network.enable')
  return () => {
    const sum = [...answers.values()].reduce((all, one) => all + one, 0)
    return { kB: sum / 1_000, requests: answers.size }
  }
}

/** The expressions are evaluated over the debugging protocol, so the page's CSP does not block them. */
async function healthWith(page: Page, press: string) {
  await page.evaluate('vitals.painted')
  await page.locator(press).first().click()
  return (await page.evaluate('vitals.pressed')) as Omit<Visit, 'kB' | 'requests'>
}

/**
 * Runs in the page before its own scripts. `first-input` reports the first press even if it took less than
 * a frame. Layout shifts soon after an input are expected (`hadRecentInput`), and not counted.
 */
const watchVitals = `
  const seen = { lcp: 0, cls: 0, inp: 0, ttfb: 0 }
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  const inTime = (begin) =>
    new Promise((resolve, reject) => {
      begin(resolve)
      setTimeout(() => reject(new Error('The browser reports no such entry.')), 20_000)
    })
  watch('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.cls += value })
  globalThis.vitals = {
    painted: inTime((resolve) => watch('largest-contentful-paint', ({ startTime }) => {
      seen.lcp = startTime
      resolve()
    })),
    pressed: inTime((resolve) => watch('first-input', ({ duration }) => {
      seen.inp = duration
      seen.ttfb = performance.getEntriesByType('navigation')[0].responseStart
      resolve(seen)
    })),
  }
`

import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core'

/** What one visit of a page took: bytes and requests of everything, and what its visitor waits for. */
export interface Visit {
  readonly kB: number
  readonly requests: number
  /** To the first byte, and to the largest thing that is painted; milliseconds. */
  readonly ttfb: number
  readonly lcp: number
  /** Cumulative layout shift, without unit. */
  readonly cls: number
  /** From a press to the next paint; milliseconds. */
  readonly inp: number
}

export interface Target {
  readonly url: string
  /** What is pressed on it; it leads to no other page. */
  readonly press: string
  /** What opens it, where it is private. */
  readonly cookie?: { readonly name: string; readonly value: string; readonly path: string }
}

/** A phone of the middle class on a slow network, as Lighthouse takes it. */
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

/** Visits a page with a browser that has nothing of the store yet, and presses something on it. */
export async function visit(
  browser: Browser,
  { url, press, cookie }: Target,
  { isSlow }: { readonly isSlow: boolean },
): Promise<Visit> {
  const context = await browser.newContext({
    ...(isSlow ? phone : { viewport: { width: 1_280, height: 800 } }),
    // Every visitor is another one, as the limits count them.
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

/** Heads and bodies of all answers as they came over the wire, those that are still open as well. */
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

/** The debugger evaluates this, which no policy of the page stops. */
async function healthWith(page: Page, press: string) {
  await page.evaluate('vitals.painted')
  await page.locator(press).first().click()
  return (await page.evaluate('vitals.pressed')) as Omit<Visit, 'kB' | 'requests'>
}

/**
 * Runs in the page, before anything else does. The first press has an entry however quick it was. A
 * shift after it would be its visitor's own doing, and is not counted.
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

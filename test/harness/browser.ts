import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { createViteServer } from 'vitest/node'
import { findChromium } from './chromium.ts'
import { leftOut } from './left-out.ts'

const found = await findChromium()

/** The reason why no browser can be started here; undefined if one can. */
export const noBrowser = leftOut(typeof found === 'string' ? found : undefined)

/** A real Chromium with an empty profile. */
export async function openBrowser(): Promise<Browser> {
  if (typeof found === 'string') throw new Error(found)
  const browser = await chromium.launch({ ...found, args: quiet })
  browser.on('context', (context) => context.setDefaultTimeout(maxWaitMs))
  return browser
}

/** Only ends operations that hang, before the test times out: on a busy machine, pages are slow too. */
const maxWaitMs = 150_000

/**
 * An empty page in a real Chromium, served from a loopback origin of its own.
 *
 * @param root the folder with the TypeScript modules that the page may import
 * @param packages the packages that these modules import
 */
export async function openPage(root: string, packages: readonly string[]) {
  const cacheDir = await mkdtemp(join(tmpdir(), 'kiosk402-page-'))
  const server = await createViteServer({
    root,
    cacheDir,
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, ws: false, watch: null },
    optimizeDeps: { include: [...packages], noDiscovery: true },
  })
  // Vite's own page would open a WebSocket to reload itself.
  server.middlewares.use('/', (_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>Another origin</title><link rel="icon" href="data:,">')
  })
  await server.listen()
  const browser = await openBrowser()
  const page = await browser.newPage()
  const url = server.resolvedUrls?.local[0] ?? ''
  await page.goto(url)
  return {
    page,
    origin: new URL(url).origin,
    async close() {
      await browser.close()
      await server.close()
      await rm(cacheDir, { recursive: true, force: true })
    },
  }
}

export type OpenPage = Awaited<ReturnType<typeof openPage>>

/** Allows it to run as root and without a screen, and prevents connections of its own. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import { openBrowser } from '../../../harness/browser.ts'
import { type InstalledWallet, installWallet, type WalletState } from '../../../harness/wallet.ts'
import { mintUsdc, transfersBetween } from '../../chain.ts'
import { openStore, type Store, type StoreOptions } from '../../store.ts'

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Another tab of the same browser, watched like the first one. */
  readonly newTab: () => Promise<Page>
}

export interface VisitWithWallet extends Visit {
  readonly wallet: InstalledWallet
  /** What the wallet has paid to the store, one amount for each time. */
  readonly paid: () => Promise<bigint[]>
}

interface Opened {
  readonly context: BrowserContext
  /** What went wrong in it, that nobody would see. */
  readonly complaints: string[]
  /** What its pages have asked for and not got yet. */
  readonly waiting: Set<Request>
}

interface Fixtures {
  /** Opens a browser that nobody has used before. */
  readonly visit: (options?: BrowserContextOptions) => Promise<Visit>
  /** The same, with a wallet in it that holds 1000 USDC unless it is said otherwise. */
  readonly visitWithWallet: (
    state?: Partial<WalletState> & { readonly funds?: bigint },
    options?: BrowserContextOptions,
  ) => Promise<VisitWithWallet>
}

const plenty = 1_000_000_000n

/** In the pages of the stories, a second passes in a tenth: nobody waits until a page looks again. */
export const hurried = `{
  const later = setTimeout
  window.setTimeout = (work, ms, ...given) => later(work, ms / 10, ...given)
}`

/**
 * One store that takes every coin and one Chromium, for all stories of a file. Each visitor has an
 * address of its own, so that none of them meets a limit that another one used up. When a story ends,
 * its pages must have asked nobody but the store, and complained about nothing.
 */
export function browserStories(options: StoreOptions = {}) {
  const parts = {} as { store: Store; browser: Browser }
  beforeAll(async () => {
    const opening = openStore({ coins: {}, offers: 120, ...options })
    const [store, browser] = await Promise.all([opening, openBrowser()])
    Object.assign(parts, { store, browser })
  })
  afterAll(async () => {
    await parts.browser?.close()
    await parts.store?.close()
  })
  const test = plain.extend<{ opened: Opened[] } & Fixtures>({
    opened: async ({ task, onTestFailed }, use) => {
      const opened: Opened[] = []
      onTestFailed(() => tellWaiting(task.name, opened))
      await use(opened)
      for (const { context } of opened) await context.close()
      const complaints = opened.flatMap((one) => one.complaints)
      expect(complaints, task.name).toEqual([])
    },
    visit: async ({ opened }, use) => {
      await use((given) => openVisit(parts, opened, given))
    },
    visitWithWallet: async ({ opened }, use) => {
      await use(({ funds = plenty, ...state } = {}, given) =>
        openWithWallet(parts, opened, { funds, state, given }),
      )
    },
  })
  return { test, parts }
}

type Parts = ReturnType<typeof browserStories>['parts']

async function openVisit(
  { store, browser }: Parts,
  opened: Opened[],
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: store.url,
    extraHTTPHeaders: { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') },
    ...options,
  })
  const own: Opened = { context, complaints: [], waiting: new Set() }
  opened.push(own)
  await context.addInitScript(hurried)
  context.on('page', (page) => watch(page, store.url, own))
  const newTab = () => context.newPage()
  return { context, page: await newTab(), newTab }
}

async function openWithWallet(
  parts: Parts,
  opened: Opened[],
  {
    funds,
    state,
    given,
  }: {
    readonly funds: bigint
    readonly state: Partial<WalletState>
    readonly given: BrowserContextOptions | undefined
  },
): Promise<VisitWithWallet> {
  const { parts: chain, payTo } = parts.store
  const privateKey = generatePrivateKey()
  const address = privateKeyToAddress(privateKey)
  if (funds > 0n) await mintUsdc(chain, address, funds)
  const { context, newTab, page: early } = await openVisit(parts, opened, given)
  const wallet = await installWallet(context, { privateKey, rpcUrl: chain.rpcUrl, ...state })
  // A wallet stands in the pages that are opened after it came.
  const page = await newTab()
  await early.close()
  const paid = async () => {
    const transfers = await transfersBetween(chain, address, payTo)
    return transfers.map(({ value }) => value)
  }
  return { context, page, newTab, wallet, paid }
}

/** Answers of the store that a purchase is made of, and that browsers call failures. */
const expected = new Set([402, 409, 422])

/** A story that hangs tells what its pages hung on. */
function tellWaiting(name: string, opened: readonly Opened[]): void {
  const urls = opened.flatMap(({ waiting }) => [...waiting].map((request) => request.url()))
  console.error(`${name}: its pages still waited for ${urls.join(', ') || 'nothing'}`)
}

function watch(page: Page, storeUrl: string, { complaints, waiting }: Opened): void {
  const isOver = (request: Request) => waiting.delete(request)
  page.on('requestfinished', isOver)
  page.on('requestfailed', isOver)
  page.on('request', (request) => {
    waiting.add(request)
    const { protocol, origin } = new URL(request.url())
    const isOwn = origin === new URL(storeUrl).origin || protocol === 'data:'
    if (!isOwn) complaints.push(`asked another host: ${request.url()}`)
  })
  page.on('response', (response) => {
    const isPart = response.request().resourceType() !== 'document'
    const isBad = response.status() >= 500 || (isPart && response.status() >= 400)
    if (isBad && !expected.has(response.status())) {
      complaints.push(`${response.status()} ${response.url()}`)
    }
  })
  page.on('console', (message) => {
    // Those are seen above, where they are told apart.
    const isAnswer = message.text().includes('server responded with a status of')
    if (/error|warning/.test(message.type()) && !isAnswer) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => void dialog.accept())
}

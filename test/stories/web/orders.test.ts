import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openBrowser } from '../../harness/browser.ts'
import { type Buyer, newBuyer } from '../buyer.ts'
import { buyDelivered } from '../requests.ts'
import { useStore } from '../store.ts'
import { hurried } from './browser/visit.ts'

interface Bought {
  readonly orderId: string
  readonly accessToken: string
  readonly transactionHash: string
  /** What nobody else may see. */
  readonly secret: string
}

const store = useStore()
let buyer: Buyer
const bought = {} as Record<'voucher' | 'esim', Bought>

beforeAll(async () => {
  buyer = await newBuyer()
  for (const kind of ['voucher', 'esim'] as const) bought[kind] = await order(kind)
})

async function order(kind: 'voucher' | 'esim'): Promise<Bought> {
  const { answer, order } = await buyDelivered(store, buyer, kind)
  const { code, activationCode } = order.orders[0].result
  const { orderId, transactionHash } = order
  return {
    ...{ orderId, transactionHash },
    accessToken: answer.body.accessToken,
    secret: code ?? activationCode,
  }
}

const pageOf = ({ orderId }: Bought) => `${store.url}/orders/${orderId}`

/** A visitor with cookies, who sends forms as a browser does. */
function visitor() {
  const cookies = new Map<string, string>()
  const keep = (answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
  const sent = () => ({ cookie: [...cookies].map((pair) => pair.join('=')).join('; ') })
  return {
    get: async (url: string) => keep(await fetch(url, { headers: sent(), redirect: 'manual' })),
    post: async (url: string, fields: Record<string, string>, headers = {}) =>
      keep(
        await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: { ...sent(), 'sec-fetch-site': 'same-origin', ...headers },
          body: new URLSearchParams(fields),
        }),
      ),
  }
}

describe('the page of an order', () => {
  test('opens with the token of its own order, and shows the goods on asking only', async () => {
    const { get, post } = visitor()
    const { voucher, esim } = bought
    const wrong = await post(`${pageOf(voucher)}/open`, { token: esim.accessToken })
    expect(wrong.status).toBe(422)
    expect(await wrong.text()).toContain('This link or code doesn’t match.')
    expect((await post(`${pageOf(voucher)}/goods`, {})).status).toBe(403)

    const link = `${pageOf(voucher)}#${voucher.accessToken}`
    const opened = await post(`${pageOf(voucher)}/open`, { token: ` ${link} ` })
    expect([opened.status, opened.headers.get('location')]).toEqual([
      303,
      `/orders/${voucher.orderId}`,
    ])
    const [cookie = ''] = opened.headers.getSetCookie()
    expect(cookie).toContain(`Path=/orders/${voucher.orderId};`)
    expect(cookie).toContain('HttpOnly; SameSite=Lax')

    const page = await (await get(pageOf(voucher))).text()
    expect(page).toContain('Sandbox Test')
    expect(page).toContain(voucher.transactionHash)
    expect(page).not.toContain(voucher.secret)
    const goods = await post(`${pageOf(voucher)}/goods`, {})
    expect(goods.headers.get('cache-control')).toBe('no-store')
    expect(await goods.text()).toContain(voucher.secret)
  })

  test('takes nothing that a page of another site sends', async () => {
    const { post } = visitor()
    const token = { token: bought.voucher.accessToken }
    // Else a stranger could have a browser take their order for its visitor's own.
    const forced = await post(`${pageOf(bought.voucher)}/open`, token, {
      'sec-fetch-site': 'cross-site',
    })
    expect([forced.status, forced.headers.get('set-cookie')]).toEqual([403, null])
    await post(`${pageOf(bought.voucher)}/open`, token)
    const answer = await post(
      `${pageOf(bought.voucher)}/goods`,
      {},
      { 'sec-fetch-site': 'cross-site' },
    )
    expect(answer.status).toBe(403)
    expect(await answer.text()).not.toContain(bought.voucher.secret)
  })
})

describe.skipIf(noBrowser)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  /** A tab that notes what it asked for, and what it complained about. */
  async function openTab() {
    const context = await browser.newContext()
    await context.addInitScript(hurried)
    const page = await context.newPage()
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    return { context, page, asked, complaints }
  }

  test('the private link of an order opens it, and the button shows the goods', async () => {
    const one = bought.voucher
    const { context, page, asked, complaints } = await openTab()
    await page.goto(`${pageOf(one)}#${one.accessToken}`)
    await page.waitForSelector('.private')
    expect(page.url()).toContain(`#${one.accessToken}`)
    expect(await page.content()).not.toContain(one.secret)
    await page.click('.yours button')
    await page.waitForSelector('.yours.open')
    expect(await page.textContent('.yours')).toContain(one.secret)
    expect(await page.evaluate('document.activeElement.id')).toBe('goods')
    expect(asked.filter((url) => !url.startsWith(store.url))).toEqual([])
    // The browser keeps what stands behind the # to itself, so no address of a request has it.
    expect(asked.filter((url) => url.split('#')[0]?.includes('kat_'))).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('the orders of this browser are listed, until it shall forget them', async () => {
    const { context, page, complaints } = await openTab()
    const listed = async () => {
      await page.goto(`${store.url}/find`)
      await page.waitForSelector('#recent:not([hidden])')
      const links = await page.locator('#recent li a').all()
      return Promise.all(links.map((link) => link.getAttribute('href')))
    }
    expect(await listed()).toEqual([])
    for (const one of [bought.voucher, bought.esim]) await openInTab(page, one)
    const [voucher, esim] = [bought.voucher, bought.esim].map(({ orderId }) => `/orders/${orderId}`)
    expect(await listed()).toEqual([esim, voucher])
    expect(await page.textContent('#recent')).not.toContain('kat_')
    for (const date of await page.locator('#recent li time').allTextContents())
      expect(date).toMatch(/^[A-Z][a-z]{2} \d{1,2}, \d{4}$/)
    await page.click(`#recent a[href="${voucher}"]`)
    await page.waitForSelector('.private')
    await listed()
    await page.uncheck('#recent-kept')
    expect(await page.locator('#recent li').count()).toBe(0)
    await openInTab(page, bought.voucher)
    expect(await listed()).toEqual([])
    await page.check('#recent-kept')
    await openInTab(page, bought.voucher)
    expect(await listed()).toEqual([voucher])
    expect(complaints).toEqual([])
    await context.close()
  })

  /** Opens an order by its private link, as its buyer does. */
  async function openInTab(page: Page, one: (typeof bought)['voucher']): Promise<void> {
    await page.goto('about:blank')
    await page.goto(`${pageOf(one)}#${one.accessToken}`)
    await page.waitForSelector('.private')
    // Only then has the script run that notes the order for this browser.
    await page.waitForLoadState('load')
  }

  test('a wallet of the browser signs in, and its orders are there', async () => {
    const { context, page, complaints } = await openTab()
    await page.exposeFunction('signByWallet', (message: `0x${string}`) =>
      buyer.account.signMessage({ message: { raw: message } }),
    )
    // What a wallet puts into pages (EIP-6963). It writes addresses in lower case, as many do.
    await page.addInitScript(`
      const provider = { request: async ({ method, params }) =>
        method === 'personal_sign' ? signByWallet(params[0]) : ['${buyer.address.toLowerCase()}'] }
      const info = { uuid: 'a', name: 'Test Wallet', icon: 'data:,', rdns: 'example.wallet' }
      addEventListener('eip6963:requestProvider', () =>
        dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })))`)
    await page.goto(`${store.url}/find`)
    await page.click('text=Sign in with Test Wallet')
    await page.waitForSelector('.order-list')
    expect(await page.textContent('.order-list')).toContain('Sandbox Test')
    await page.click(`.order-list a[href="/orders/${bought.esim.orderId}"]`)
    await page.click('.yours button')
    expect(await page.textContent('.yours')).toContain(bought.esim.secret)
    expect(complaints).toEqual([])
    await context.close()
  })
})

import { encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openBrowser } from '../../harness/browser.ts'
import { startSmtpSink } from '../../harness/smtp.ts'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, buy, type Kind, supplierSays } from '../requests.ts'
import { openStore, type Store } from '../store.ts'
import { hurried } from './browser/visit.ts'

interface Bought {
  readonly kind: Kind
  readonly orderId: string
  readonly accessToken: string
  readonly transactionHash: string
  /** What nobody else may see. */
  readonly secret: string
}

let sink: Awaited<ReturnType<typeof startSmtpSink>>
let store: Store
let buyer: Buyer
const bought = {} as Record<Kind, Bought>
let failed: Bought

beforeAll(async () => {
  sink = await startSmtpSink()
  store = await openStore({
    env: { SMTP_URL: sink.url, SMTP_FROM: 'kiosk@example.org' },
  })
  buyer = await newBuyer()
  for (const kind of ['voucher', 'esim', 'topup'] as const) bought[kind] = await order(kind, 'OK')
  failed = await order('voucher', 'FAIL')
})
afterAll(async () => {
  await store.close()
  await sink.stop()
})

async function order(kind: Kind, outcome: string): Promise<Bought> {
  const headers = { 'idempotency-key': keyOf(kind, outcome) }
  const { answer } = await buy(store, buyer, kind, bodyFor(kind, outcome), { headers })
  const { orderId, accessToken, transactionHash, orders } = answer.body
  const { code, activationCode, confirmationNumber } = orders[0].result ?? {}
  const secret = code ?? activationCode ?? confirmationNumber ?? ''
  return { kind, orderId, accessToken, transactionHash, secret }
}

/** What an order of these stories was bought with. */
const keyOf = (kind: Kind, outcome: string) => `the-key-of-${kind}-${outcome}`

const pageOf = ({ orderId }: Bought) => `${store.url}/orders/${orderId}`

/** What stands between the head and the foot of a page. */
function mainOf(page: string): string {
  return /<main[\s\S]*<\/main>/.exec(page)?.[0] ?? page
}

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
  test('shows everyone where it stands, and nothing of what was bought', async () => {
    for (const one of Object.values(bought)) {
      const answer = await visitor().get(pageOf(one))
      const page = await answer.text()
      expect(page).toContain('<h1 id="stage">Delivered</h1>')
      expect(page).not.toContain(one.transactionHash)
      expect(page).not.toContain(one.secret)
      expect(page).not.toContain('Sandbox Test')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-robots-tag')).toContain('noindex')
      expect(answer.headers.get('referrer-policy')).toBe('same-origin')
    }
  })

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

  test('opens for a while with the key of its own purchase, which leaves a token in its place', async () => {
    const { voucher } = bought
    const { get, post } = visitor()
    const code = /Recovery code. Write it down/
    for (const key of [keyOf('esim', 'OK'), 'no-key-of-anything', '']) {
      const wrong = await post(`${pageOf(voucher)}/open`, { key })
      expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([422, null])
    }
    const key = keyOf('voucher', 'OK')
    expect((await post(`${pageOf(voucher)}/open`, { key })).status).toBe(303)
    const byKey = await (await get(pageOf(voucher))).text()
    expect(byKey).toContain(voucher.transactionHash)
    expect(byKey).not.toMatch(code)

    await post(`${pageOf(voucher)}/open`, { token: voucher.accessToken })
    await post(`${pageOf(voucher)}/open`, { key })
    expect(await (await get(pageOf(voucher))).text()).toMatch(code)
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

describe('the refund of an order', () => {
  test('is said to everyone, and where the money went only to its buyer', async () => {
    const { get, post } = visitor()
    const closed = await (await get(`${pageOf(failed)}/refund`)).text()
    expect(closed).toMatch(/Your refund is on its way|Refunded/)
    expect(closed).not.toContain(buyer.address)
    await post(`${pageOf(failed)}/open`, { token: failed.accessToken })
    expect(await (await get(`${pageOf(failed)}/refund`)).text()).toContain(buyer.address)
  })

  test('of an order that was delivered is none, and cannot be asked for', async () => {
    const { get, post } = visitor()
    expect(await (await get(`${pageOf(bought.voucher)}/refund`)).text()).toContain('no refund')
    const asked = await post(`${pageOf(bought.voucher)}/refund`, { key: crypto.randomUUID() })
    expect(asked.status).toBe(409)
  })
})

describe('finding an order again', () => {
  const find = () => `${store.url}/find`

  test('by its payment shows its state, and leads to its page by number or with its link', async () => {
    const { transactionHash, orderId, accessToken } = bought.esim
    const ask = (fields: Record<string, string>) => visitor().post(`${find()}/payment`, fields)
    for (const number of [transactionHash, `https://x.example/tx/${transactionHash}?a=b`]) {
      const page = await (await ask({ number })).text()
      expect(page).toContain('It was delivered.')
      // What everyone may read in the chain names no order.
      for (const named of [orderId, 'esim', 'eSIM']) expect(mainOf(page)).not.toContain(named)
      for (const answer of [
        await ask({ number: orderId }),
        await ask({ number, token: accessToken }),
      ])
        expect([answer.status, answer.headers.get('location')]).toEqual([303, `/orders/${orderId}`])
    }
    const none = await ask({ number: `0x${'1'.repeat(64)}` })
    expect([none.status, (await none.text()).includes('We found no order')]).toEqual([404, true])
    const odd = await ask({ number: 'my order' })
    expect(await odd.text()).toContain('value="my order"')
    expect(odd.status).toBe(422)
  })

  test('with the wallet that paid opens all of its orders for a while', async () => {
    const { get, post } = visitor()
    const challenged = await post(`${find()}/challenge`, { address: buyer.address.toLowerCase() })
    const { message, payload } = (await challenged.json()) as { message: string; payload: object }
    expect(message).toContain('Show the orders that this wallet paid for.')
    const signature = await buyer.account.signMessage({ message })
    const signed = encodeSIWxHeader({ ...payload, signature } as never)
    const answer = await post(`${find()}/wallet`, { signed })
    expect(answer.status).toBe(303)
    const { transactionHash: number, orderId: own } = bought.esim
    const byHash = await post(`${find()}/payment`, { number })
    expect([byHash.status, byHash.headers.get('location')]).toEqual([303, `/orders/${own}`])
    const list = await (await get(find())).text()
    for (const { orderId } of Object.values(bought)) expect(list).toContain(`/orders/${orderId}`)
    expect(await (await get(pageOf(bought.esim))).text()).toContain('Show the eSIM')
    expect(await (await post(`${pageOf(bought.esim)}/goods`, {})).text()).toContain('<svg')
    // One signature opens once, and another wallet opens nothing.
    expect((await visitor().post(`${find()}/wallet`, { signed })).status).toBe(401)
    await post(`${find()}/leave`, {})
    expect(await (await get(pageOf(bought.esim))).text()).toContain('Is this your order?')
  })

  test('by mail needs an address that was left, and says the same of every other', async () => {
    const { get, post } = visitor()
    const { voucher } = bought
    await post(`${pageOf(voucher)}/open`, { token: voucher.accessToken })
    expect(await (await get(pageOf(voucher))).text()).toContain('Get the link by e-mail')
    const left = await post(`${pageOf(voucher)}/mail`, { email: 'Buyer@Example.org' })
    expect(await left.text()).toContain('We sent an e-mail with a link to this order.')
    expect(sink.mails).toHaveLength(1)

    const known = await visitor().post(`${find()}/mail`, { email: 'buyer@example.org' })
    const other = await visitor().post(`${find()}/mail`, { email: 'other@example.org' })
    const said = (page: string) => page.replace(/value="[^"]*"/g, '')
    expect(said(await known.text())).toBe(said(await other.text()))
    await expect.poll(() => sink.mails.length).toBe(2)
    const text = sink.mails[1]?.data.replace(/=\n/g, '').replace(/=3D/g, '=') ?? ''
    const [link = '', token = ''] = new RegExp(`${pageOf(voucher)}#(\\S+)`).exec(text) ?? []
    expect(link).not.toContain(voucher.accessToken)
    const fresh = visitor()
    expect((await fresh.post(`${pageOf(voucher)}/open`, { token })).status).toBe(303)
    expect(await (await fresh.post(`${pageOf(voucher)}/goods`, {})).text()).toContain(
      voucher.secret,
    )
    // Nobody gets another token by a token, so it ends when the mail said.
    expect(await (await fresh.get(pageOf(voucher))).text()).toContain(token)
    // It opens the order that it was made for, and no other of the same buyer.
    expect((await fresh.post(`${pageOf(bought.esim)}/open`, { token })).status).toBe(422)

    const kept = () => store.query('select address_digest from order_mail')
    expect(JSON.stringify(await kept())).not.toContain('example.org')
    expect(await kept()).toHaveLength(1)
    const wrong = await visitor().post(`${find()}/mail`, { email: 'nobody' })
    expect([wrong.status, (await wrong.text()).includes('Enter a valid e-mail address')]).toEqual([
      422,
      true,
    ])
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

  test('an order that is under way becomes delivered on the page, by itself', async () => {
    const { accessToken, orderId } = await orderUnderWay()
    const { context, page, complaints } = await openTab()
    await page.goto(`${store.url}/orders/${orderId}#${accessToken}`)
    await page.waitForSelector('.private')
    await page.focus('#email')
    await page.fill('#email', 'half@')
    await supplierSays(store, orderId, 'DONE')
    await page.waitForSelector('.stage.delivered')
    expect(await page.inputValue('#email')).toBe('half@')
    expect(await page.evaluate('document.activeElement.id')).toBe('email')
    expect(await page.textContent('body > [role=status]')).toContain('Delivered.')
    expect(complaints).toEqual([])
    await context.close()
  })

  /** An order that its supplier holds, bought without waiting for it. */
  async function orderUnderWay(): Promise<{ accessToken: string; orderId: string }> {
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'HANG'), {
      headers: { prefer: 'respond-async' },
    })
    expect(answer.status).toBe(202)
    return answer.body
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

test('no token and no address stands in the log', () => {
  const logged = store.logLines.join('')
  expect(logged).toContain('/orders/:orderId/open')
  expect(logged).not.toMatch(/k(at|op|wp)_/)
  expect(logged.toLowerCase()).not.toContain('buyer@example.org')
})

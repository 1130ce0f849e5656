import { afterAll, beforeAll, expect, test } from 'vitest'
import { website } from '../../../src/web/frame/website.fixture.ts'
import { checkoutService } from '../../fixtures/checkouts.ts'
import { bodyFor, fromAnywhere } from '../requests.ts'
import { letIn, openStore, type Store } from '../store.ts'
import { choose, formOf, type Paying, sendForm } from './person.ts'

// What whoever has sent coins, or is about to, reads on each page while the database is away.

const { offerId = '', ...fields } = bodyFor('voucher', 'OK') as Record<string, string>
let store: Store
let paying: Paying
let bought: Record<string, string>

beforeAll(async () => {
  store = await openStore({ coins: {} })
  paying = await choose(store, 'LTC')
  const { refundTo } = paying
  bought = { ...fields, ...(await formOf(store, offerId)), pay: 'LTC', 'refundTo-LTC': refundTo }
  await letIn(store.databaseUrl, false)
})
afterAll(async () => {
  await letIn(store.databaseUrl, true)
  await store.close()
})

interface PageRoute {
  readonly method: string
  readonly url: string
}

/** Every route of the website, as it registers them. */
async function pageRoutes(): Promise<readonly PageRoute[]> {
  const { app } = website({ checkout: checkoutService().checkouts })
  const routes: PageRoute[] = []
  app.addHook('onRoute', ({ method, url }) => {
    routes.push(...[method].flat().map((one) => ({ method: one, url })))
  })
  await app.ready()
  await app.close()
  return routes.filter(({ method }) => method === 'GET' || method === 'POST')
}

function ask({ method, url }: PageRoute): Promise<Response> {
  const path = url
    .replace(':id', paying.id)
    .replace(':orderId', paying.orderId)
    .replace(':offerId', offerId)
  const { cookie } = paying
  const headers = { ...fromAnywhere(), cookie, accept: 'text/html' }
  if (method === 'GET') return fetch(`${store.url}${path}`, { headers, redirect: 'manual' })
  const token = cookie.replace('access=', '')
  const typed = {
    token,
    number: paying.id,
    email: 'ada@example.org',
    address: '',
    signed: '',
    key: paying.id,
  }
  return sendForm(store, path, url.startsWith('/buy') ? bought : typed, { cookie })
}

function expectNoWordOfMoney({ headers }: Response, text: string, name: string) {
  expect(text, name).not.toMatch(/charged|nothing was/i)
  if (headers.get('content-type')?.startsWith('text/html')) {
    expect(text, name).toContain('do not pay again')
  }
}

/** What these show is on record, and nowhere else. */
const onRecord = /^(GET|POST) \/(pay|orders)\/:|POST \/(buy|find\/payment|approve)/

test('no page says what it cannot know, and each that needs the database asks to come again', async () => {
  const routes = await pageRoutes()
  expect(routes.map(({ url }) => url)).toEqual(expect.arrayContaining(['/pay/:id', '/find']))
  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const answer = await ask(route)
    const text = await answer.text()
    if (!onRecord.test(name)) expect(answer.status, name).toBeLessThan(500)
    else if (answer.status !== 303) {
      expect(answer.status, name).toBe(503)
      expect(Number(answer.headers.get('retry-after')), name).toBeGreaterThan(0)
      // Only the form of an offer knows that nobody could pay for it yet.
      if (route.url !== '/buy/:offerId') expectNoWordOfMoney(answer, text, name)
    }
  }
})

import type { AddressInfo } from 'node:net'
import { afterAll, test as always, beforeAll, describe, expect } from 'vitest'
import { website } from '../../../src/web/frame/website.fixture.ts'
import { axeFaults } from '../../harness/axe.ts'
import { noBrowser } from '../../harness/browser.ts'
import { openShop, overflowOf, type Shop, viewports } from './shop.ts'

/** The pages of the shop, each in every state that looks different. */
const pages = {
  'the front page': '/',
  'a category': '/search?kind=voucher&country=US',
  'the last page of a category': '/search?kind=topup&page=2',
  'plans for a country': '/search?kind=esim&country=FR',
  'a search without a result': '/search?kind=voucher&q=amazon&max=0',
  'a search that cannot be read': '/search?q=amazon&country=Germany&min=abc&sort=best',
  'how it works': '/how-it-works',
  'the terms': '/terms',
  'the errors': '/errors',
  'an address that is none': '/no/such/page',
}

const test = always.skipIf(noBrowser)

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

describe.each(Object.entries(viewports))('on a %s', (_, viewport) => {
  test.each(Object.entries(pages))('%s has nothing that axe finds', async (_, path) => {
    const { page, wrong, close } = await shop.visit({ viewport })
    await page.goto(path)
    expect(await overflowOf(page), 'pixels that stand out of the window').toBeLessThanOrEqual(0)
    // What is folded away is read too, once it is opened.
    await page.evaluate(
      "document.querySelectorAll('details').forEach((each) => (each.open = true))",
    )
    expect(await axeFaults(page)).toEqual([])
    expect(wrong).toEqual([])
    await close()
  })

  test('the page of a fault of the store has nothing that axe finds', async () => {
    const { app } = website({ liveCatalog: { current: broken, replace: broken } })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const { page, close } = await shop.visit({ viewport })
    const answer = await page.goto(`http://127.0.0.1:${port}/buy/AMZ_US_25`)
    expect(answer?.status()).toBe(500)
    expect(await overflowOf(page)).toBeLessThanOrEqual(0)
    expect(await axeFaults(page)).toEqual([])
    await close()
    await app.close()
  })
})

function broken(): never {
  throw new Error('no catalog')
}

test.each(Object.values(pages))('%s weighs less than 100 kB with everything', async (path) => {
  const { page, close } = await shop.visit()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  let bytes = 0
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(path, { waitUntil: 'networkidle' })
  expect(bytes).toBeGreaterThan(2_000)
  expect(bytes).toBeLessThan(100_000)
  await close()
})

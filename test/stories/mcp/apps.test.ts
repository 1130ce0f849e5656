import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, type OpenPage, openPage } from '../../harness/browser.ts'
import { newBuyer } from '../buyer.ts'
import { bodyFor } from '../requests.ts'
import { useStore } from '../store.ts'
import { buyWith, type McpClient, openClient, versions } from './client.ts'

const store = useStore()

const type = 'text/html;profile=mcp-app'

describe.each(versions)('a client of %s', (version) => {
  test('finds a document for every tool, which loads nothing', async () => {
    const { client, close } = await openClient(store, version)
    const [{ tools }, { resources }] = await Promise.all([
      client.listTools(),
      client.listResources(),
    ])
    expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ['ui://kiosk402/offers', type],
      ['ui://kiosk402/price', type],
      ['ui://kiosk402/order', type],
    ])
    const uris = new Set(resources.map(({ uri }) => uri))
    for (const { name, _meta } of tools) {
      const { resourceUri } = (_meta as { ui: { resourceUri: string } }).ui
      expect(uris.has(resourceUri), name).toBe(true)
    }
    for (const uri of uris) {
      const { contents } = await client.readResource({ uri })
      expect(contents).toMatchObject([
        { uri, mimeType: type, _meta: { ui: { csp: { connectDomains: [] } } } },
      ])
      const text = String(Object(contents[0]).text)
      expect(text).toContain(`default-src 'none'; script-src 'sha256-`)
      expect(text).not.toMatch(/https?:|src="|href="|innerHTML|insertAdjacentHTML/)
    }
    const none = { uri: 'ui://kiosk402/none' }
    await expect(client.readResource(none)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('The resources are ui:'),
      data: none,
    })
    await close()
  })
})

describe.skipIf(noBrowser)('a document in a host', () => {
  let opened: OpenPage
  let connected: McpClient
  const asked: unknown[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    const packages = ['@modelcontextprotocol/ext-apps/app-bridge']
    ;[opened, connected] = await Promise.all([
      openPage(join(import.meta.dirname, 'page'), packages),
      openClient(store, '2026-07-28'),
    ])
    const { page } = opened
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.exposeFunction('asked', (...what: unknown[]) => void asked.push(what))
    await page.exposeFunction('callTool', (name: string, args: Record<string, unknown>) =>
      connected.client.callTool({ name, arguments: args }),
    )
  })
  afterAll(async () => {
    await Promise.all([opened.close(), connected.close()])
    expect(complaints).toEqual([])
  })

  /** Shows what a tool has answered in its document. */
  async function shown(app: string, result: unknown, theme = 'light'): Promise<Frame> {
    const { contents } = await connected.client.readResource({ uri: `ui://kiosk402/${app}` })
    const given = [Object(contents[0]).text, theme, result].map((one) => JSON.stringify(one))
    await opened.page.evaluate(`import('/host.js').then(({ host }) => host(${given.join(', ')}))`)
    const frame = opened.page.frames().at(-1)
    if (frame === undefined) throw new Error('There is no frame')
    await frame.waitForSelector('h2')
    return frame
  }

  const call = (name: string, args: Record<string, unknown>) =>
    connected.client.callTool({ name, arguments: args })

  test('shows offers, one of which is looked at and chosen', async () => {
    const found = await call('search', { kind: 'voucher', query: 'sandbox test', limit: 3 })
    const frame = await shown('offers', found, 'dark')
    expect(await frame.locator('article').count()).toBe(3)
    expect(await frame.locator('article').first().textContent()).toMatch(/Price\d+\.\d\d USD/)
    await frame.getByRole('button', { name: 'Details' }).first().click()
    await frame.locator('article:only-of-type').waitFor()
    await frame.getByRole('button', { name: 'Choose' }).click()
    await expect.poll(() => asked.at(-1)).toMatchObject(['say', [{ type: 'text' }]])
    expect(JSON.stringify(asked.at(-1))).toMatch(/I choose the offer TEST-VOUCHER-/)
  })

  test('shows what a purchase costs', async () => {
    const frame = await shown('price', await call('quote', bodyFor('voucher', 'OK')))
    expect(await frame.textContent('h2')).toBe('0.50 USDC')
    expect(await frame.textContent('main')).toContain('Nothing is bought yet')
  })

  test('shows an order, and opens its goods outside of the conversation', async () => {
    const { bought } = await buyWith(connected.call, await newBuyer(), bodyFor('voucher', 'OK'))
    const frame = await shown('order', { structuredContent: bought.data, content: [] })
    expect(await frame.textContent('h2')).toBe('Delivered')
    expect(await frame.textContent('main')).not.toContain('SBX-')
    await frame.getByRole('button', { name: 'Show what was bought' }).click()
    await expect.poll(() => asked.at(-1)).toEqual(['open', bought.data.reveal.url])
    await frame.getByRole('button', { name: 'Refresh' }).click()
    await frame.getByText('It is shown once').waitFor()
  })

  test('shows the texts of an offer as text', async () => {
    const brandName = '<img src=x onerror="parent.hacked = 1"><b>Steam</b>'
    const items = [{ offerId: 'X', brandName, kind: 'voucher', usdc: { amount: '1' } }]
    const frame = await shown('offers', { structuredContent: { items }, content: [] })
    expect(await frame.textContent('h2')).toBe(brandName)
    expect(await frame.locator('img, b').count()).toBe(0)
  })
})

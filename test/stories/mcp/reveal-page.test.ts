import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openBrowser } from '../../harness/browser.ts'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, type Kind } from '../requests.ts'
import { useStore } from '../store.ts'
import { buyWith, openClient } from './client.ts'

const store = useStore()
let buyer: Buyer
let browser: Browser

describe.skipIf(noBrowser)('the page of a link', () => {
  beforeAll(async () => {
    ;[browser, buyer] = await Promise.all([openBrowser(), newBuyer()])
  })
  afterAll(() => browser.close())

  async function linkTo(kind: Kind): Promise<string> {
    const opened = await openClient(store, '2026-07-28')
    const { bought } = await buyWith(opened.call, buyer, bodyFor(kind, 'OK'))
    await opened.close()
    return bought.data.reveal.url
  }

  /** A page that remembers what it asked for and what it complained about. */
  async function openTab(options: { readonly javaScriptEnabled: boolean }) {
    const page = await browser.newPage(options)
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    return { page, asked, complaints }
  }

  test('is filled in by itself, and shows the goods when the button is pressed', async () => {
    const url = await linkTo('voucher')
    const [, token = ''] = url.split('#')
    const { page, asked, complaints } = await openTab({ javaScriptEnabled: true })
    await page.goto(url)
    expect(await page.inputValue('#token')).toBe(token)
    expect(page.url()).toBe(`${store.url}/reveal`)
    await page.click('button')
    expect(await page.textContent('code.copy')).toMatch(/^SBX-/)
    expect(asked.filter((one) => !one.startsWith(store.url))).toEqual([])
    expect(asked.filter((one) => one.includes(token))).toEqual([])
    expect(complaints).toEqual([])
    await page.close()
    const again = await openTab({ javaScriptEnabled: true })
    await again.page.goto(`${store.url}/reveal`)
    await again.page.goto(url)
    expect(await again.page.inputValue('#token')).toBe(token)
    await again.page.click('button')
    expect(await again.page.textContent('h1')).toBe('This link has been used')
    await again.page.close()
  })

  test('works without script when the secret is pasted', async () => {
    const url = await linkTo('voucher')
    const [, token = ''] = url.split('#')
    const { page } = await openTab({ javaScriptEnabled: false })
    await page.goto(url)
    expect(await page.inputValue('#token')).toBe('')
    await page.fill('#token', token)
    await page.click('button')
    expect(await page.textContent('code.copy')).toMatch(/^SBX-/)
    await page.close()
  })
})

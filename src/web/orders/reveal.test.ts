import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { RevealedGoods } from '../../api/buying/reveal.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { OrderId } from '../../lib/ids.ts'
import { document } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { frame } from '../frame/page.fixture.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { breakout, read, website } from '../frame/website.fixture.ts'
import { textsIn, titled } from '../texts/texts.ts'
import { goodsPage, revealPage } from './reveal-page.ts'

const t = textsIn('en')

const goodsOf = (result: Record<string, unknown>, kind: Kind): RevealedGoods => ({
  orderId: 'ord_1' as OrderId,
  kind,
  brandName: breakout,
  result,
})
const shown = (result: Record<string, unknown>, kind: Kind = 'voucher') =>
  document(frame, goodsPage(goodsOf(result, kind), t))

describe('the page behind a link', () => {
  test('is whole, and runs one script of ours and nothing else', async () => {
    const page = document(frame, revealPage(t))
    expect(structureFaults(page)).toEqual([])
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/reveal.js">'])
    const { headers } = await website().get('/reveal')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("form-action 'self';")
    expect(policy).toContain("img-src 'self';")
    const { statusCode, headers: script } = await website().get('/scripts/reveal.js')
    expect([statusCode, script['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
  })

  /** Runs the script on a page with this fragment, and with another one later. */
  function run(hash: string, field: { value: string } | null = { value: '' }, later = hash) {
    const replaced: string[] = []
    const location = { hash, pathname: '/reveal' }
    runInNewContext(readFileSync('src/web/scripts/reveal.js', 'utf8'), {
      document: { getElementById: () => field },
      location,
      history: { replaceState: (_: unknown, __: string, url: string) => replaced.push(url) },
      addEventListener: (_: string, changed: () => void) => {
        if (later === hash) return
        location.hash = later
        changed()
      },
    })
    return { value: field?.value, replaced }
  }

  test('fills in its secret and takes it out of the address bar', () => {
    expect(run('#abc.def')).toEqual({ value: 'abc.def', replaced: ['/reveal'] })
    expect(run('')).toEqual({ value: '', replaced: [] })
    expect(run('#abc', null)).toEqual({ value: undefined, replaced: [] })
    expect(run('#abc', { value: '' }, '#def')).toMatchObject({ value: 'def' })
  })
})

describe('the goods', () => {
  test('are readable, with what is copied marked', () => {
    const expiresAt = '2027-11-22T01:02:16.749Z'
    const page = shown({ code: 'A-1', pin: '12', instructions: 'Type it in.', expiresAt })
    expect(read(page)).toContain('Valid until 2027-11-22 ')
    expect(page).toContain('<code class="copy" id="goods-code">A-1</code>')
    expect(page).toContain('<code class="copy" id="goods-pin">12</code>')
    expect(read(page)).toContain('How to use it Type it in.')
    expect(structureFaults(page)).toEqual([])
  })

  test('of an eSIM have its QR code, drawn in the page', () => {
    const lpa = 'LPA:1$h$m'
    const page = shown({ iccid: '89', lpa, activationCode: lpa }, 'esim')
    expect(page).toContain('<svg class="qr-code"')
    expect(read(page)).toContain(`Full activation code ${lpa}`)
    expect(structureFaults(page)).toEqual([])
  })

  test('of a topup say what was credited, and of a voucher what is on the card', () => {
    const credited = { amount: 7_660, currency: 'GTQ', currencyDivisor: 100 }
    const topup = read(shown({ msisdn: '+50255551234', credited }, 'topup'))
    expect(topup).toContain('Credited 76.60 GTQ')
    const voucher = read(shown({ code: 'X', credited }, 'voucher'))
    expect(voucher).toContain('On the card 76.60 GTQ')
    expect(voucher).not.toContain('Credited')
  })

  test('escape what a supplier wrote, and link to https only', () => {
    const page = shown({ code: breakout, instructions: breakout, redemptionUrl: breakout })
    expect(structureFaults(page)).toEqual([])
    expect(shown({ redemptionUrl: 'https://r.example/x' })).toContain(
      '<a href="https://r.example/x"',
    )
    expect(shown({ redemptionUrl: 'javascript:alert(1)' })).not.toContain('href="javascript')
  })
})

test.each(['not_yet', 'never', 'used', 'expired', 'unknown'] as const)(
  'a link that is %s says what to do',
  (type) => {
    const message = titled(t, `reveal.closed.${type}`)
    expect(structureFaults(document(frame, messagePage(message, t)))).toEqual([])
    expect(message.text).toMatch(/\.$/)
  },
)

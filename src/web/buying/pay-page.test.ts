import { describe, expect, test } from 'vitest'
import {
  checkoutId,
  checkoutOrderId,
  checkoutService,
  checkoutToken,
  checkoutView,
} from '../../../test/fixtures/checkouts.ts'
import { fixed, fixtureNow, topup } from '../../../test/fixtures/offers.ts'
import type { CheckoutStage } from '../../api/checkout.ts'
import { maxKept } from '../../checkouts/checkout.ts'
import { formatUsdc } from '../../lib/money.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { read, website } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'

const t = textsIn('en')

const url = `/pay/${checkoutId}`
const owner = { cookie: `access=${checkoutToken}` }
const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const refundTo = checkoutView().refundTo ?? ''

function paying(view = checkoutView()) {
  const { checkouts, state } = checkoutService(view)
  const site = website({ checkout: checkouts, sandboxPayUrl: (id) => `http://127.0.0.1:9/i/${id}` })
  return { ...site, state }
}

describe('the page of a payment', () => {
  test('says what to send, where, until when, and how to come back', async () => {
    const { get } = paying()
    const { statusCode, headers, body } = await get(url, owner)
    expect(statusCode).toBe(200)
    expect(structureFaults(body)).toEqual([])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
      'referrer-policy': 'same-origin',
    })
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    const text = read(body)
    for (const words of [
      'Bitcoin (BTC) Amount',
      '0.00039063 BTC',
      '= 25.00 USD · 1 BTC = 64000.00 USD',
      'Price locked until Nov 18, 2026, 12:15 UTC .',
      address,
      'Send only BTC, and only on the Bitcoin network.',
      `https://kiosk.example/pay/${checkoutId}#${checkoutToken}`,
      'Too little: send the rest in time, or we return what you sent.',
      'we refund payments that arrive while we monitor the address, until Nov 19, 2026, 12:00 UTC .',
      `Amounts of ${formatUsdc(maxKept)} USD or less aren’t refunded`,
      `Refund to ${refundTo}`,
    ]) {
      expect(text).toContain(words)
    }
    expect(body).toContain('data-copy="#amount"')
    expect(body).toContain(`<code class="copy" id="address">${address}</code>`)
    expect(body).toContain(`href="bitcoin:${address}?amount=0.00039063"`)
    expect(body).toContain('href="http://127.0.0.1:9/i/inv_1"')
    expect(body.match(/<svg class="qr-code"/g)).toHaveLength(2)
    expect(body).toContain(
      `<noscript><meta http-equiv="refresh" content="10; url=${url}"></noscript>`,
    )
    expect(body).toContain(`data-page="${url}"`)
  })

  test('says above the address what is bought, where, and for which number', async () => {
    const offer = topup('T', { faceValue: fixed(5_000, 'GTQ') })
    const bought = { kind: 'topup', brandName: 'Claro', offer, phone: '+50255551234' } as const
    const { get } = paying(checkoutView('waiting', { bought: bought as never }))
    const { body } = await get(url, owner)
    expect(read(body)).toContain(
      'You’re buying Claro airtime, GTQ 50 Country Guatemala Phone number +502 5555 1234 Price 25.00 USD Change',
    )
    expect(body.indexOf('id="bought"')).toBeLessThan(body.indexOf('id="address"'))
    // Nobody else sees any of it.
    expect(read((await get(url)).body)).not.toMatch(/Claro|5555/)
  })

  test.each([
    ['opening', 'One moment', false],
    ['refused', 'nothing was paid', true],
    ['waiting', 'Send your payment', false],
    ['partly_paid', 'Send the rest to the address below', false],
    ['confirming', 'Do not pay again', false],
    ['closing', 'We’re checking what arrived in time', false],
    ['unwatched', 'Do not pay right now', false],
    ['expired', 'Do not send anything more to the address', false],
  ] as const)('in the stage %s says what to know and to do', async (stage, words, isFinished) => {
    const { get } = paying(checkoutView(stage))
    const { body } = await get(url, owner)
    expect(structureFaults(body)).toEqual([])
    expect(read(body)).toContain(words)
    expect(body).toContain(`data-version="${stage}-1-0"`)
    expect(body.includes('data-end')).toBe(isFinished)
    expect(body.includes('http-equiv="refresh"')).toBe(!isFinished)
    const asks = stage === 'waiting' || stage === 'partly_paid'
    // A page that asks for no money shows no address to which somebody could send it.
    expect(read(body).includes(address)).toBe(asks)
    expect(body.includes('href="/buy/AMZ_US_25"')).toBe(
      ['waiting', 'refused', 'expired'].includes(stage),
    )
  })

  test('is not sent again while it shows the current version, which ends with the minutes left', async () => {
    const { get, state } = paying()
    const ask = (version: string) => get(url, { ...owner, 'if-none-match': `"${version}"` })
    expect((await ask('waiting-1-0')).statusCode).toBe(304)
    expect((await ask('waiting-1-1')).statusCode).toBe(200)
    const expiresAt = new Date(fixtureNow.getTime() + 4 * 60_000)
    state.view = checkoutView('waiting', { invoice: { expiresAt } })
    const { statusCode, body } = await ask('waiting-1-0')
    expect([statusCode, read(body).includes('less than 4 minutes left')]).toEqual([200, true])
  })

  test('asks for what is missing when a part came', async () => {
    const view = checkoutView('partly_paid', { invoice: { seen: 10_000n, due: 30_473n } })
    const { body } = await paying(view).get(url, owner)
    expect(read(body)).toContain('Remaining 0.00030473 BTC Copy 0.0001 of 0.00040473 BTC arrived')
    expect(body).toContain(`href="bitcoin:${address}?amount=0.00030473"`)
  })

  test('that is paid leads to the order, unless something goes back from here', async () => {
    const { get, state } = paying(checkoutView('paid'))
    const answer = await get(url, owner)
    expect([answer.statusCode, answer.headers.location]).toEqual([
      303,
      `/orders/${checkoutOrderId}`,
    ])
    state.view = checkoutView('paid', {
      returns: [{ seq: 1, units: 7n, why: 'surplus', payout: { state: 'DUE' } }],
    })
    const { statusCode, body } = await get(url, owner)
    expect(statusCode).toBe(200)
    expect(body).toContain(`href="/orders/${checkoutOrderId}"`)
    expect(read(body)).toContain('0.00000007 BTC is about to be refunded (overpaid)')
  })

  test('has no link that no wallet would open', async () => {
    for (const paymentLink of [
      'javascript:alert(1)',
      'https://pay.example/?amount=1',
      'bitcoin:x',
    ]) {
      const { body } = await paying(checkoutView('waiting', { invoice: { paymentLink } })).get(
        url,
        owner,
      )
      expect(structureFaults(body)).toEqual([])
      expect(body).not.toContain('Open in wallet')
      expect(body.match(/<svg class="qr-code"/g)).toHaveLength(1)
    }
  })
})

describe('whoever has not shown that it is theirs', () => {
  test.each(['waiting', 'partly_paid', 'expired', 'paid'] as CheckoutStage[])(
    'sees in the stage %s how it stands and nothing more',
    async (stage) => {
      const { get } = paying(checkoutView(stage))
      for (const headers of [{}, { cookie: `access=kat_${'b'.repeat(43)}` }]) {
        const { statusCode, body } = await get(url, headers)
        expect(statusCode).toBe(200)
        expect(structureFaults(body)).toEqual([])
        for (const secret of [address, refundTo, '0.00039063', checkoutToken, '/orders/']) {
          expect(body).not.toContain(secret)
        }
        // A page that reloads itself would lose what is pasted.
        expect(body).not.toContain('http-equiv="refresh"')
        expect(read(body)).toContain(`Payment ${t(`pay.stages.${stage}.state`)}`)
      }
    },
  )

  test('opens it with the link or the token that they kept', async () => {
    const { post } = paying()
    const link = `https://kiosk.example${url}#${checkoutToken}`
    for (const token of [checkoutToken, ` ${checkoutToken} `, link]) {
      const answer = await post(`${url}/open`, { token })
      expect([answer.statusCode, answer.headers.location]).toEqual([303, url])
      expect(answer.headers['set-cookie']).toHaveLength(2)
      expect(answer.headers['cache-control']).toBe('no-store')
    }
  })

  test('is told when what they pasted opens nothing', async () => {
    const { post } = paying()
    for (const token of ['', 'kat_short', `kat_${'b'.repeat(43)}`]) {
      const answer = await post(`${url}/open`, { token })
      expect(answer.statusCode).toBe(422)
      expect(structureFaults(answer.body)).toEqual([])
      expect(read(answer.body)).toContain('This link or code doesn’t match.')
      expect(answer.body).toContain('aria-invalid="true"')
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
    const foreign = await post(
      `${url}/open`,
      { token: checkoutToken },
      { 'sec-fetch-site': 'cross-site' },
    )
    expect([foreign.statusCode, foreign.headers['set-cookie']]).toEqual([403, undefined])
  })

  test('is told when there is no such payment', async () => {
    const { get, post } = paying()
    for (const answer of [
      await get('/pay/chk_nosuch', owner),
      await post('/pay/chk_nosuch/open', { token: checkoutToken }),
    ]) {
      expect(answer.statusCode).toBe(404)
      expect(read(answer.body)).toContain('Payment not found')
    }
  })
})

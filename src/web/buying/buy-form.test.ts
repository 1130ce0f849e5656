import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  checkoutId,
  checkoutOrderId,
  checkoutService,
  checkoutToken,
} from '../../../test/fixtures/checkouts.ts'
import type { CheckoutService } from '../../api/checkout.ts'
import { sellingRulesOf } from '../../catalog/selling-rules.ts'
import { createLimits } from '../../http/gate.ts'
import { invalidBody, Refusal } from '../../lib/refusal.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { read, website } from '../frame/website.fixture.ts'
import type { TrackingDeps } from '../orders/tracking.ts'

const url = '/buy/MCD_US_10'
const refundTo = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'

/** The form of an offer as a browser holds it, with what a person typed into it. */
async function opened(
  site: ReturnType<typeof website>,
  typed: Readonly<Record<string, string>> = {},
  at = url,
) {
  return { ...fieldsOf((await site.get(at)).body), ...typed }
}

/** Every field of the form of a page, as a browser would send it. */
function fieldsOf(page: string): Record<string, string> {
  const [form = ''] = /<form class="buy".*?<\/form>/s.exec(page) ?? []
  const inputs = [...form.matchAll(/<input([^>]*)>/g)].map(([, tag = '']) => tag)
  const sent = inputs.filter((tag) => !tag.includes('type="radio"') || tag.includes('checked='))
  const pairs = sent.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')] as const)
  return Object.fromEntries(pairs)
}

function attribute(tag: string, name: string): string {
  return read(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

const person = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  pay: 'BTC',
  'refundTo-BTC': refundTo,
}

describe('the form of an offer', () => {
  test('has another key for each visitor, and stands in no shared cache', async () => {
    const site = website({ checkout: checkoutService().checkouts })
    const [one, other] = [await site.get(url), await site.get(url)]
    const keys = [one, other].map(({ body }) => fieldsOf(body)['key'])
    expect(keys[0]).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(keys[0]).not.toBe(keys[1])
    expect(one.headers['cache-control']).toBe('private, no-cache')
    expect(one.headers.etag).toBeUndefined()
  })
})

/** Starts end only later, so that all of them are under way before the first one ends. */
function slow(start: CheckoutService['start']): CheckoutService['start'] {
  return async (...asked) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const begun = await start(...asked)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return begun
  }
}

test('while the payment processor is away, the form offers USDC alone and says so', async () => {
  const { checkouts, state } = checkoutService()
  state.isAway = true
  const { body } = await website({ checkout: checkouts }).get(url)
  expect(body).toContain('Coins cannot be taken at the moment.')
  expect(body).not.toContain('value="BTC"')
  expect(structureFaults(body)).toEqual([])
  state.isAway = false
  const later = await website({ checkout: checkouts }).get(url)
  expect(later.body).not.toContain('Coins cannot be taken')
  expect(later.body).toContain('value="BTC"')
})

describe('a form that is sent', () => {
  test('starts a checkout, remembers it in this browser, and leads to the payment', async () => {
    const { checkouts, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const answer = await site.post(url, await opened(site, person))
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `/pay/${checkoutId}`])
    expect(answer.headers['set-cookie']).toEqual(
      [`/pay/${checkoutId}`, `/orders/${checkoutOrderId}`].map(
        (path) =>
          `access=${checkoutToken}; Path=${path}; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure`,
      ),
    )
    const { firstName, lastName, email } = person
    expect(started).toEqual([
      {
        kind: 'voucher',
        fields: { offerId: 'MCD_US_10', firstName, lastName, email },
        coin: 'BTC',
        refundTo,
        formKey: expect.stringMatching(/^[\w-]{22}$/),
        client: '127.0.0.1',
        faults: [],
      },
    ])
  })

  test('reads amounts and numbers as people write them', async () => {
    const { checkouts, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const amount = { ...person, value: ' 25.00 ', firstName: ' Ada ' }
    const { email: _, ...rest } = amount
    await site.post('/buy/AMZ_US_OPEN', await opened(site, rest, '/buy/AMZ_US_OPEN'))
    const phone = { msisdn: '+502 5123-4567', pay: 'BTC', 'refundTo-BTC': refundTo }
    await site.post('/buy/CLARO_GT_5', await opened(site, phone, '/buy/CLARO_GT_5'))
    const asDialled = { ...phone, msisdn: '5123 4567' }
    await site.post('/buy/CLARO_GT_5', await opened(site, asDialled, '/buy/CLARO_GT_5'))
    expect(started.map(({ fields }) => fields)).toEqual([
      { offerId: 'AMZ_US_OPEN', value: 25, firstName: 'Ada', lastName: 'Lovelace' },
      { offerId: 'CLARO_GT_5', msisdn: '+50251234567' },
      { offerId: 'CLARO_GT_5', msisdn: '+50251234567' },
    ])
  })

  test('takes a number that no plan has once the buyer insists on that very number', async () => {
    const { checkouts, state, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const at = '/buy/CLARO_GT_5'
    const typed = { msisdn: '+502 1111 1111', pay: 'BTC', 'refundTo-BTC': refundTo }
    const form = await opened(site, typed, at)
    expect(form).not.toHaveProperty('confirmNumber')
    state.refusal = invalidBody([{ field: 'msisdn', code: 'unassigned_number' }])
    const told = await site.post(at, form)
    expect(structureFaults(told.body)).toEqual([])
    expect(read(told.body)).toContain('If it is right, tick the box below it.')
    expect(fieldsOf(told.body)['confirmNumber']).toBe('+50211111111')
    state.refusal = undefined
    const confirmNumber = '+50211111111'
    await site.post(at, { ...form, confirmNumber })
    await site.post(at, { ...form, confirmNumber, msisdn: '+502 1111 1112' })
    expect(started.slice(-2).map(({ fields }) => fields)).toEqual([
      { offerId: 'CLARO_GT_5', msisdn: '+50211111111', confirmNumber: true },
      { offerId: 'CLARO_GT_5', msisdn: '+50211111112' },
    ])
  })

  test('asks before a number is topped up again at once, and goes on for that very number', async () => {
    const { checkouts, state, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const at = '/buy/CLARO_GT_5'
    const typed = { msisdn: '+502 5123 4567', pay: 'BTC', 'refundTo-BTC': refundTo }
    state.refusal = new Refusal('possible_duplicate', 'Topped up.', { charged: 'no' })
    const told = await site.post(at, await opened(site, typed, at))
    expect(told.statusCode).toBe(409)
    expect(structureFaults(told.body)).toEqual([])
    expect(read(told.body)).toContain('topped up less than two minutes ago')
    state.refusal = undefined
    const form = { ...fieldsOf(told.body), ...typed }
    await site.post(at, form)
    await site.post(at, { ...form, msisdn: '+502 5123 4568' })
    expect(started.slice(-2).map(({ fields }) => fields)).toEqual([
      { offerId: 'CLARO_GT_5', msisdn: '+50251234567', confirmAnother: true },
      { offerId: 'CLARO_GT_5', msisdn: '+50251234568' },
    ])
  })

  test('comes back with every fault beside its field, and with all that was typed', async () => {
    const { checkouts, state } = checkoutService()
    const site = website({ checkout: checkouts })
    state.refusal = invalidBody([
      { field: 'refundTo', code: 'bad_address', reason: 'no_address' },
      { field: 'email', code: 'malformed', didYouMean: 'ada@example.com' },
      { field: 'firstName', code: 'missing' },
    ])
    const typed = {
      ...person,
      firstName: '',
      email: 'ada@@example.com "<b>',
      'refundTo-LTC': 'ltc1',
    }
    const answer = await site.post(url, await opened(site, typed))
    expect(answer.statusCode).toBe(422)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(structureFaults(answer.body)).toEqual([])
    expect(answer.body).toContain('<title>Check the form: ')
    expect(answer.body).toMatch(/<div class="faults" role="alert" tabindex="-1" autofocus/)
    const links = [...answer.body.matchAll(/<li><a href="#([^"]+)">([^<]+)</g)]
    expect(links.map(([, name, message = '']) => [name, read(message)])).toEqual([
      ['firstName', 'Enter the recipient’s first name.'],
      [
        'email',
        'Enter a valid e-mail address, such as ada@example.com. Did you mean ada@example.com?',
      ],
      ['refundTo-BTC', 'This is not an address for BTC. Copy it from your wallet again.'],
    ])
    for (const [, name = '', message = ''] of links) {
      expect(answer.body).toContain(`<p class="fault" id="${name}-fault">${message}</p>`)
      const [field = ''] = new RegExp(`<input[^>]* id="${name}"[^>]*>`).exec(answer.body) ?? []
      expect(field).toContain('aria-invalid="true"')
      expect(field).toMatch(new RegExp(`aria-describedby="[^"]*${name}-fault"`))
    }
    const sent = fieldsOf(answer.body)
    expect(sent).toMatchObject({ ...typed, email: 'ada@@example.com "<b>' })
    // A form that is sent again without its faults keeps its key.
    expect(sent['key']).toMatch(/^[\w-]{22}$/)
  })

  test('asks for what only this brand asks for, and says what is wrong with it', async () => {
    const { checkouts, started, state } = checkoutService()
    const site = website({ checkout: checkouts })
    const at = '/buy/CURIOUS'
    const page = read((await site.get(at)).body)
    for (const label of ['Recipient’s phone number', 'Country of your address', 'Message to the']) {
      expect(page).toContain(label)
    }
    const told = {
      recipientMsisdn: '+1 202-456-1111',
      senderAddressCountry: 'DE',
      deliveryMessage: 'Hi',
    }
    const { email: _, ...ada } = person
    const form = await opened(site, { ...ada, ...told }, at)
    await site.post(at, form)
    expect(started[0]?.fields).toMatchObject(told)
    state.refusal = invalidBody([
      { field: 'recipientMsisdn', code: 'malformed', didYouMean: '+12024561111' },
      { field: 'deliveryMessage', code: 'missing' },
    ])
    const answer = await site.post(at, { ...form, deliveryMessage: '' })
    expect(structureFaults(answer.body)).toEqual([])
    const faults = [...answer.body.matchAll(/<p class="fault" id="(\w+)-fault">([^<]+)</g)]
    expect(faults.map(([, name, text = '']) => [name, read(text)])).toEqual([
      ['recipientMsisdn', expect.stringMatching(/^Enter a phone.* Did you mean \+12024561111\?$/)],
      ['deliveryMessage', 'Fill this in. This brand asks for it.'],
    ])
  })

  test('with a mail address that is none is refused before a payment begins', async () => {
    const { checkouts, started } = checkoutService()
    const tracking = { follow: {}, limits: createLimits(), mail: {} } as unknown as TrackingDeps
    const site = website({ checkout: checkouts, tracking })
    await site.post(url, await opened(site, { ...person, mail: 'ada@@example.com' }))
    expect(started).toMatchObject([{ faults: [{ field: 'mail', code: 'malformed' }] }])
  })

  test('that the API has refused for a wallet comes back with the faults of its fields', async () => {
    const { checkouts, started } = checkoutService()
    for (const site of [website(), website({ checkout: checkouts })]) {
      const form = await opened(site, { ...person, firstName: '', pay: 'USDC' })
      const { 'refundTo-BTC': _, ...sent } = form
      const { statusCode, body } = await site.post(url, sent)
      expect(statusCode).toBe(422)
      expect(body).toContain('<p class="fault" id="firstName-fault">Enter the recipient’s')
      expect(body).toMatch(/id="pay-USDC"[^>]* checked=/)
      const at = '/buy/CLARO_GT_5'
      const dialled = await opened(site, { msisdn: '5123 4567', pay: 'USDC' }, at)
      const read = await site.post(at, dialled)
      expect(read.body).toContain('We read this as +50251234567.')
      expect(fieldsOf(read.body)['msisdn']).toBe('+50251234567')
    }
    expect(started).toEqual([])
  })

  test('charges no more than the form said: a price that went up is told first', async () => {
    const { checkouts, started } = checkoutService()
    const cheap = website({ checkout: checkouts })
    const dear = website({ checkout: checkouts, markupBps: 1_000 })
    const form = await opened(cheap, person)
    const told = await dear.post(url, form)
    expect(told.statusCode).toBe(409)
    expect(read(told.body)).toContain(
      'The price has changed to 11.00 USDC since you opened this page. You haven’t been charged',
    )
    expect(started).toEqual([])
    const agreed = fieldsOf(told.body)
    expect(agreed).toMatchObject({ ...person, key: form['key'], seen: '{"cents":1100}' })
    expect((await dear.post(url, agreed)).statusCode).toBe(303)
    // An offer that became cheaper is simply sold for less.
    expect((await cheap.post(url, agreed)).statusCode).toBe(303)
    const open = await opened(cheap, { ...person, value: '10' }, '/buy/AMZ_US_OPEN')
    const { email: _, ...openForm } = open
    expect((await dear.post('/buy/AMZ_US_OPEN', openForm)).statusCode).toBe(409)
    expect((await cheap.post(url, { ...form, seen: 'nothing' })).statusCode).toBe(409)
  })

  test('of an open value asks again when a rule adds cents or per cents, and not when it takes some off', async () => {
    const { checkouts } = checkoutService()
    const { email: _, ...ada } = person
    const under = (bps: number, cents: number) => {
      const scope = { type: 'everything', key: '' } as const
      const rules = sellingRulesOf([{ id: 1, scope, effect: { type: 'margin', bps, cents } }])
      return website({ checkout: checkouts, rules })
    }
    const at = '/buy/AMZ_US_OPEN'
    const seen = await opened(under(100, 25), { ...ada, value: '10' }, at)
    expect(seen['seen']).toContain('"bps":100,"cents":25')
    for (const [bps, cents, status] of [
      [100, 25, 303],
      [90, 25, 303],
      [100, 26, 409],
      [101, 25, 409],
    ] as const) {
      expect((await under(bps, cents).post(at, seen)).statusCode, `${bps}+${cents}`).toBe(status)
    }
  })

  test('begins thirty of a visitor who sends sixty at once', async () => {
    const { checkouts, started } = checkoutService()
    const slowly = { ...checkouts, start: slow(checkouts.start) }
    const site = website({ checkout: slowly })
    const form = await opened(site, person)
    const answers = await Promise.all(Array.from({ length: 60 }, () => site.post(url, form)))
    const statuses = answers.map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 303)).toHaveLength(30)
    expect(statuses.filter((status) => status === 429)).toHaveLength(30)
    expect(started).toHaveLength(30)
  })

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': undefined, origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': undefined, origin: 'nonsense' }, 403],
    [{ 'sec-fetch-site': undefined, origin: 'http://kiosk:8402', host: 'kiosk:8402' }, 303],
    [{ 'sec-fetch-site': undefined, origin: 'null' }, 403],
    [{ 'sec-fetch-site': undefined }, 303],
  ] as const)('from %o is answered %i', async (headers, status) => {
    const { checkouts, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const form = await opened(site, person)
    expect((await site.post(url, form, headers)).statusCode).toBe(status)
    expect(started).toHaveLength(status === 303 ? 1 : 0)
  })

  test('that is not ours is not read', async () => {
    const { checkouts, started } = checkoutService()
    const site = website({ checkout: checkouts })
    const form = await opened(site, person)
    const { key: _, ...keyless } = form
    const strange = [
      { ...form, isAdmin: '1' },
      keyless,
      { ...form, key: 'short' },
      { ...form, lastName: 'x'.repeat(301) },
    ]
    for (const sent of strange) {
      const answer = await site.post(url, sent)
      expect([answer.statusCode, read(answer.body).includes('Invalid form')]).toEqual([400, true])
    }
    const twice = await site.app.inject({
      method: 'POST',
      url,
      payload: `${new URLSearchParams(form)}&email=b%40example.com`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(twice.statusCode).toBe(400)
    expect((await site.post(url, { ...form, firstName: 'x'.repeat(20_000) })).statusCode).toBe(413)
    expect((await site.post('/buy/nosuch', form)).statusCode).toBe(404)
    expect((await site.post('/buy/ADDRESS_US_5', { key: 'a'.repeat(22) })).statusCode).toBe(409)
    expect(started).toEqual([])
  })
})

test('the page and everything that it loads stay under 100 kB', async () => {
  const site = website({ checkout: checkoutService().checkouts })
  const { body } = await site.get('/buy/AMZ_US_OPEN')
  const loaded = [
    ...body.matchAll(/(?:<script type="module" src|rel="stylesheet" href)="([^"]+)"/g),
  ]
  expect(loaded).toHaveLength(3)
  let bytes = body.length
  for (const [, at = ''] of loaded) {
    const { rawPayload, statusCode, headers } = await site.get(at)
    expect([statusCode, headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
    const small = gzipSync(rawPayload).length
    if (at.includes('wallet.js')) expect(small).toBeLessThan(60_000)
    bytes += small
  }
  expect(bytes).toBeLessThan(100_000)
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { checkoutWorld, invoiced } from '../../../test/doubles/checkouts.ts'
import { noBudgets, type Script } from '../../../test/doubles/orders.ts'
import { createCheckoutService } from '../../api/checkout.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import type { MailDeps } from '../../api/tracking/find.ts'
import type { OrderTrackingDeps } from '../../api/tracking/order-view.ts'
import { linkToken, sessionToken } from '../../api/tracking/tokens.ts'
import { createLimits, limitRules } from '../../http/gate.ts'
import { recoveryCodeOf } from '../../orders/finding.ts'
import { networks } from '../../payments/networks.ts'
import { createDigest, createSigner } from '../../secrets/secrets.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { read, website } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'

const t = textsIn('en')

const key = Buffer.alloc(32, 7)
const typed = 'ada@example.org'

/** A store that sends mail, with one paid order. */
async function store(script: Partial<Script> = {}) {
  const world = checkoutWorld(script)
  const { checkout, accessToken } = await world.start()
  const { checkout: second } = await world.start({ formKey: 'b'.repeat(32) })
  const pay = async (begun: typeof checkout, part = 1n) => {
    const { invoice } = invoiced(begun)
    world.processor.pay(invoice.id, invoice.units / part)
    await world.live(5 * 60_000)
  }
  await pay(checkout)
  const { id, orderId } = checkout
  const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  const findByAddress = async (text: string) =>
    text === address ? await world.checkouts.find(id) : undefined
  const tokenSigner = createSigner([key], 'order-pass')
  const site = { url: 'https://kiosk.example' }
  const checked: string[] = []
  const used = new Set<string>()
  const follow = {
    site,
    signIn: {
      site,
      network: networks.base.id,
      nonces: {
        useOnce: async (nonce: string) => !used.has(nonce) && !!used.add(nonce),
        isUsed: async (nonce: string) => used.has(nonce),
      },
      nonceMark: createDigest([key], 'nonce'),
      verifyMessage: async ({ address: signer }: { address: string }) => {
        checked.push(signer)
        return false
      },
      now: () => new Date(),
    },
    orders: world.orders,
    purchases: { ...world.deps, budgets: { ...noBudgets, order: { refund_claims: 2 } } },
    tokenSigner,
    codes: createDigest([key], 'recovery-code'),
    checkouts: { ...world.checkouts, findByAddress },
  } as unknown as OrderTrackingDeps
  const sent: string[] = []
  const server = { refuses: 0 }
  const left = new Map<string, string>()
  const noted: [order: string, askedBy: string][] = []
  const mail: MailDeps = {
    book: {
      remember: async (id, digest) => {
        left.set(id, digest)
      },
      ordersOf: async (digests) =>
        [...left].filter(([, one]) => digests.includes(one)).map(([id]) => id as never),
      sent: async (orders, askedBy) => {
        for (const order of orders) noted.push([order, askedBy])
      },
      forget: async () => 0,
    },
    mailer: {
      send: async ({ to }) => {
        if (server.refuses > 0) {
          server.refuses -= 1
          throw new Error('450 try again later')
        }
        sent.push(to)
      },
    },
    digest: createDigest([key], 'order-mail'),
  }
  const limits = createLimits()
  const tracking = { follow, mail, limits }
  const pass = (ms: number) => {
    vi.setSystemTime(Date.now() + ms)
  }
  const opened = { cookie: `access=${accessToken}` }
  const buy = (id: string, address: string) => left.set(id, mail.digest.of(address))
  const other = second.orderId
  const pages = website({
    tracking,
    checkout: createCheckoutService({ ...world.deps, tokenSigner }),
  })
  const order = { id, orderId, accessToken, address, opened, other, unpaid: second }
  const begin = (at: number) => world.start({ formKey: `${at}`.repeat(32) })
  return { ...pages, ...order, follow, left, sent, noted, server, checked, buy, pass, begin, pay }
}

describe('the mail after the last one of an hour', () => {
  test.each(['the page that finds', 'the page of an order'])(
    'is refused on %s, beside the field and with what was typed',
    async (where) => {
      const { post, orderId, opened, pass } = await store()
      pass(0)
      const url = where === 'the page that finds' ? '/find/mail' : `/orders/${orderId}/mail`
      const ask = () => post(url, { email: typed }, opened)
      for (let sent = 0; sent < limitRules.mail.limit; sent += 1) {
        expect((await ask()).statusCode).toBe(200)
      }
      const { statusCode, headers, body } = await ask()
      expect(statusCode).toBe(429)
      expect(headers['retry-after']).toBe(String(limitRules.mail.windowSeconds))
      expect(structureFaults(body)).toEqual([])
      expect(read(body)).toContain('from your network in the last hour')
      expect(body).toContain(`value="${typed}"`)
    },
  )
})

test('whoever is signed in stays so when a search finds nothing', async () => {
  const { post, follow } = await store()
  const cookie = `wallet=${sessionToken(follow, `0x${'1'.repeat(40)}`)}`
  for (const fields of [{ number: 'my order' }, { email: 'nobody' }, { email: typed }]) {
    const path = 'number' in fields ? '/find/payment' : '/find/mail'
    expect(read((await post(path, fields, { cookie })).body)).toContain(t('find.list.title'))
  }
})

test('a session yields nothing that outlasts it, and ends with the sign-out', async () => {
  const { get, post, follow, left, orderId, opened } = await store()
  const payer = (await follow.orders.find(orderId))?.payment.payer ?? ''
  const cookie = `wallet=${sessionToken(follow, payer)}`
  const pageOf = async (headers: { cookie: string }) =>
    (await get(`/orders/${orderId}`, headers)).body
  const lasting = [recoveryCodeOf(follow, orderId), '#k', `/orders/${orderId}/mail`]
  const [own, byWallet] = [await pageOf(opened), await pageOf({ cookie })]
  expect(byWallet).toContain('data-recent')
  const forged = await pageOf({ cookie: `${cookie}; access=kat_${'x'.repeat(43)}` })
  for (const text of lasting) {
    expect(own).toContain(text)
    for (const page of [byWallet, forged]) expect(page).not.toContain(text)
  }
  await post(`/orders/${orderId}/mail`, { email: typed }, { cookie })
  expect(left.size).toBe(0)
  await post('/find/leave', {}, { cookie })
  expect(await pageOf({ cookie })).not.toContain('data-recent')
  expect(read((await get('/find', { cookie })).body)).not.toContain(t('find.list.title'))
  const again = `wallet=${sessionToken(follow, payer)}`
  expect(await pageOf({ cookie: again })).toContain('data-recent')
})

test('a wallet whose signature was refused too often has to wait before the next one is checked', async () => {
  const { post, checked, pass } = await store()
  const { limit, windowSeconds } = limitRules.refused
  const signIn = async () => {
    const challenge = await post('/find/challenge', { address: `0x${'1'.repeat(40)}` })
    const message = { ...challenge.json().payload, signature: `0x${'2'.repeat(130)}` }
    const signed = Buffer.from(JSON.stringify(message)).toString('base64')
    return post('/find/wallet', { signed })
  }
  for (let at = 0; at < limit; at += 1) expect((await signIn()).statusCode).toBe(401)
  expect(checked).toHaveLength(limit)
  const { statusCode, headers, body } = await signIn()
  expect(statusCode).toBe(429)
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect(structureFaults(body)).toEqual([])
  expect(checked).toHaveLength(limit)
  pass(windowSeconds * 1_000 + 1)
  expect((await signIn()).statusCode).toBe(401)
})

describe('a mail with links', () => {
  const asked = (url: string, email = typed) => [url, { email }] as const

  test('is sent once in a quarter of an hour however often it is asked for, and again for a new order', async () => {
    const { post, sent, buy, pay, pass, orderId, other, unpaid } = await store()
    await pay(unpaid)
    buy(orderId, typed)
    const ask = () => post(...asked('/find/mail'))
    for (let at = 0; at < 5; at += 1) await ask()
    await expect.poll(() => sent).toEqual([typed])
    buy(other, typed)
    await ask()
    await expect.poll(() => sent).toHaveLength(2)
    pass(15 * 60_000 + 1)
    await ask()
    await expect.poll(() => sent).toHaveLength(3)
  })

  test('tells nobody of checkouts that strangers began with their address and paid nothing for', async () => {
    const { post, sent, buy, pay, begin, unpaid } = await store()
    buy(unpaid.orderId, typed)
    const { statusCode } = await post(...asked('/find/mail'))
    expect(statusCode).toBe(200)
    // The mail of another address is sent after it.
    const { checkout } = await begin(1)
    buy(checkout.orderId, 'buyer@example.org')
    await pay(checkout, 2n)
    await post(...asked('/find/mail', 'buyer@example.org'))
    await expect.poll(() => sent).toEqual(['buyer@example.org'])
    await pay(unpaid)
    await post(...asked('/find/mail'))
    await expect.poll(() => sent).toEqual(['buyer@example.org', typed])
  })

  test('is one of a few in an hour, whatever orders somebody leaves the address with', async () => {
    const { post, sent, buy, pay, pass, begin, orderId, opened } = await store()
    const most = limitRules.mailing.limit
    for (let at = 0; at < most + 2; at += 1) {
      const { checkout } = await begin(at)
      await pay(checkout, 2n)
      buy(checkout.orderId, typed)
      await post(...asked('/find/mail'))
    }
    await expect.poll(() => sent).toHaveLength(most)
    // A mail from another page is not counted with them, and is sent before the answer.
    await post(...asked(`/orders/${orderId}/mail`), opened)
    expect(sent).toHaveLength(most + 1)
    pass(3_600_000)
    await post(...asked('/find/mail'))
    await expect.poll(() => sent).toHaveLength(most + 2)
  })

  test('is said to be sent only where one was, also once too many were asked for', async () => {
    const { post, sent, begin, pay, orderId, opened } = await store()
    const most = limitRules.mailing.limit
    const ask = async (id: string, cookie: string) => {
      const { body } = await post(...asked(`/orders/${id}/mail`), { cookie })
      return read(body).includes(t('orders.mail.failed')) ? 'failed' : 'sent'
    }
    // A visitor who has not paid sends no mail, and does not use up those of one who has.
    const unpaid = await begin(1)
    await ask(unpaid.checkout.orderId, `access=${unpaid.accessToken}`)
    expect(sent).toEqual([])
    const said = [await ask(orderId, opened.cookie)]
    for (let at = 2; at < most + 2; at += 1) {
      const { checkout, accessToken } = await begin(at)
      await pay(checkout)
      said.push(await ask(checkout.orderId, `access=${accessToken}`))
      if (said.at(-1) === 'failed') said.push(await ask(checkout.orderId, `access=${accessToken}`))
    }
    expect(said).toEqual([...Array(most).fill('sent'), 'failed', 'failed'])
    expect(sent).toHaveLength(most)
  })

  test('is sent when it is asked for again after the mail server refused it', async () => {
    const { post, orderId, opened, sent, noted, server, pass } = await store()
    const ask = async () => read((await post(...asked(`/orders/${orderId}/mail`), opened)).body)
    server.refuses = 1
    expect(await ask()).toContain(t('orders.mail.failed'))
    expect(sent).toEqual([])
    expect(await ask()).not.toContain(t('orders.mail.failed'))
    await ask()
    expect(sent).toEqual([typed])
    expect(noted).toEqual([[orderId, 'buyer']])

    pass(15 * 60_000 + 1)
    server.refuses = 9
    for (let at = 0; at < 5; at += 1) expect(await ask()).toContain(t('orders.mail.failed'))
    // Tried three times, and not again within the interval. Nobody is told that it was sent.
    expect(server.refuses).toBe(6)
  })

  test('says of no address whether it has bought here, on any page and however often', async () => {
    const { post, buy, orderId, opened } = await store()
    buy('ord_theirs', 'buyer@example.org')
    const said = async (email: string) => {
      const answers = []
      for (let at = 0; at < 3; at += 1) answers.push(await post(...asked('/find/mail', email)))
      answers.push(await post(...asked(`/orders/${orderId}/mail`, email), opened))
      return answers.map(({ statusCode, headers, body }) => [
        statusCode,
        headers['retry-after'],
        read(body).replaceAll(email, '…'),
        body.replaceAll(email, '…').length,
      ])
    }
    expect(await said('buyer@example.org')).toEqual(await said('nobody@example.org'))
  })

  test('gives a link token that opens the order, and neither renews itself nor takes another address', async () => {
    const { post, get, follow, orderId, sent } = await store()
    const byMail = { cookie: `access=${linkToken(follow, orderId as never)}` }
    const answer = await post(...asked(`/orders/${orderId}/mail`, 'eve@example.org'), byMail)
    expect(answer.statusCode).toBe(200)
    expect(sent).toEqual([])
    const { body } = await get(`/orders/${orderId}`, byMail)
    expect(read(body)).toContain('Your order Item')
    expect(body).not.toContain(`/orders/${orderId}/mail`)
    expect(body).toContain(byMail.cookie.slice('access='.length))
  })
})

describe('an order that is looked for by its payment', () => {
  test('shows its state alone by what everyone may read in the chain', async () => {
    const { post, orderId, id, address, accessToken, follow } = await store()
    const { statusCode, body } = await post('/find/payment', { number: address })
    expect(statusCode).toBe(200)
    expect(structureFaults(body)).toEqual([])
    expect(read(body)).toContain('We found your order It was delivered.')
    for (const secret of [orderId, id, 'Amazon', 'gift card']) expect(body).not.toContain(secret)
    const wrong = await post('/find/payment', { number: address, token: 'AAAA-AAAA-AAAA' })
    expect([wrong.statusCode, wrong.headers['set-cookie']]).toEqual([422, undefined])
    expect(wrong.body).not.toContain(orderId)
    // Its link and its code both open it.
    for (const token of [accessToken, recoveryCodeOf(follow, orderId).toLowerCase()]) {
      const opened = await post('/find/payment', { number: address, token })
      expect([opened.statusCode, opened.headers.location]).toEqual([303, `/orders/${orderId}`])
      expect(String(opened.headers['set-cookie'])).toContain(`Path=/orders/${orderId};`)
    }
  })

  test('is opened by its code on its own page, which gives the code to its buyer alone', async () => {
    const { post, get, orderId, opened, follow } = await store()
    const code = recoveryCodeOf(follow, orderId)
    const answer = await post(`/orders/${orderId}/open`, { token: code })
    expect(answer.statusCode).toBe(303)
    const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
    const byCode = (await get(`/orders/${orderId}`, { cookie })).body
    expect(byCode).toContain('data-recent')
    // Access by a code expires, so the page does not reveal the code, which does not expire.
    expect(byCode).not.toContain(code)
    expect((await get(`/orders/${orderId}`, opened)).body).toContain(code)
    const locked = (await get(`/orders/${orderId}`)).body
    for (const secret of [code, 'data-recent', 'Open it below'])
      expect(locked).not.toContain(secret)
    expect(locked).toContain(`href="mailto:ops@kiosk.example?subject=${orderId}"`)
  })
})

describe('a payment that is still to come', () => {
  const cookiesOf = (headers: Readonly<Record<string, unknown>>) =>
    [headers['set-cookie']].flat().map((cookie) => String(cookie).split('; ').slice(0, 2))

  test.each(['its own page', 'the page of its order'])(
    'is opened by the code of its order on %s, and both pages then',
    async (where) => {
      const { get, post, unpaid, follow } = await store()
      const { id, orderId } = unpaid
      const code = recoveryCodeOf(follow, orderId)
      // The number of a payment leads there.
      const found = await post('/find/payment', { number: id })
      expect(found.headers.location).toBe(`/pay/${id}`)
      const page = where === 'its own page' ? `/pay/${id}` : `/orders/${orderId}`
      expect((await get(page)).body).toContain('recovery code')
      const { statusCode, headers } = await post(`${page}/open`, { token: code.toLowerCase() })
      expect([statusCode, headers.location]).toEqual([303, page])
      const cookies = cookiesOf(headers)
      expect(cookies.map(([, path]) => path)).toEqual([
        `Path=/pay/${id}`,
        `Path=/orders/${orderId}`,
      ])
      const [[cookie = ''] = []] = cookies
      const opened = (await get(`/pay/${id}`, { cookie })).body
      expect(opened).toContain('id="address"')
      // Access by a code expires, so the page does not reveal the code, which does not expire.
      for (const secret of [code, '#k']) expect(opened).not.toContain(secret)
      expect((await get(`/orders/${orderId}`, { cookie })).body).toContain(`href="/pay/${id}"`)
    },
  )

  test('is opened by no code of another order', async () => {
    const { post, unpaid, orderId, follow } = await store()
    for (const path of [`/pay/${unpaid.id}/open`, `/orders/${unpaid.orderId}/open`]) {
      const answer = await post(path, { token: recoveryCodeOf(follow, orderId) })
      expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([422, undefined])
    }
  })
})

describe('a refund that is asked for on its page', () => {
  const declined = { held: { outcome: 'declined', code: 'NO', reason: 'no' } } as const

  test('too often is still on record, and the page says when to ask again', async () => {
    const { post, orderId, opened } = await store(declined)
    const ask = (headers = {}) => post(`/orders/${orderId}/refund`, { key: randomUUID() }, headers)
    expect([(await ask()).statusCode, (await ask()).statusCode]).toEqual([200, 200])
    const { statusCode, headers, body } = await ask()
    expect([statusCode, Number(headers['retry-after']) > 0]).toEqual([429, true])
    expect(structureFaults(body)).toEqual([])
    expect(read(body)).toContain(
      'asked for this refund several times within an hour. It is on record',
    )
    expect(read(body)).not.toMatch(/charged|begun/)
    // Requests of strangers use up nothing of the visitor who has opened the order.
    expect((await ask(opened)).statusCode).toBe(200)
  })
})

test('while the orders cannot be read, their pages say that it will do later', async () => {
  const down = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const follow = { orders: { find: down }, purchases: {} } as unknown as OrderTrackingDeps
  const buying = { purchases: { approvals: { find: down } } } as unknown as BuyingDeps
  const { get, post, logged } = website({ buying, tracking: { follow, limits: createLimits() } })
  const answers = [
    await get(`/orders/ord_${'0'.repeat(26)}`, { accept: 'text/html' }),
    await post('/approve', { token: 'apr_x' }, { accept: 'text/html' }),
  ]
  for (const { statusCode, headers, body } of answers) {
    expect([statusCode, headers['retry-after']]).toEqual([503, '5'])
    expect(body).not.toContain('ECONNREFUSED')
  }
  expect(logged.join()).toContain('orders not readable')
})

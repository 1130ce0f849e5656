import { describe, expect, test } from 'vitest'
import { checkoutWorld, invoiced } from '../../../test/doubles/checkouts.ts'
import type { FollowDeps } from '../../desk/following/deps.ts'
import type { MailDeps } from '../../desk/following/mail.ts'
import { walletPass } from '../../desk/following/passes.ts'
import { countingHere, createLimits, limitRules } from '../../http/rate-limit.ts'
import { createDigest, createSigner } from '../../secrets/tokens.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { read, website } from '../frame/website.fixture.ts'
import { en } from '../texts/en.ts'

const key = Buffer.alloc(32, 7)
const typed = 'ada@example.org'

/** A store that sends mail, with one order that was paid for. */
async function store() {
  const world = checkoutWorld()
  const { checkout, accessToken } = await world.start()
  const { orderId, invoice } = invoiced(checkout)
  world.processor.pay(invoice.id, invoice.units)
  await world.live(5 * 60_000)
  const follow = {
    site: { url: 'https://kiosk.example' },
    orders: world.orders,
    purchases: { ...world.deps, shelf: world.deps.shelf },
    passes: createSigner([key], 'order-pass'),
    checkouts: world.checkouts,
  } as unknown as FollowDeps
  const mail: MailDeps = {
    book: { remember: async () => {}, ordersOf: async () => [], forget: async () => 0 },
    mailer: { send: async () => {} },
    digest: createDigest([key], 'order-mail'),
  }
  const following = { follow, mail, limits: createLimits(countingHere(() => 0)) }
  const opened = { cookie: `access=${accessToken}` }
  return { ...website({ following }), follow, orderId, opened }
}

describe('the mail after the last one of an hour', () => {
  test.each(['the page that finds', 'the page of an order'])(
    'is refused on %s, beside the field and with what was typed',
    async (where) => {
      const { post, orderId, opened } = await store()
      const url = where === 'the page that finds' ? '/find/mail' : `/orders/${orderId}/mail`
      const ask = () => post(url, { email: typed }, opened)
      for (let sent = 0; sent < limitRules.mail.limit; sent += 1) {
        expect((await ask()).statusCode).toBe(200)
      }
      const { statusCode, headers, body } = await ask()
      expect(statusCode).toBe(429)
      expect(headers['retry-after']).toBe(String(limitRules.mail.windowSeconds))
      expect(structureFaults(body)).toEqual([])
      expect(read(body)).toContain('so none was sent now')
      expect(body).toContain(`value="${typed}"`)
    },
  )
})

test('whoever is signed in stays so when a search finds nothing', async () => {
  const { post, follow } = await store()
  const cookie = `wallet=${walletPass(follow, `0x${'1'.repeat(40)}`)}`
  for (const [path, fields] of [
    ['payment', { transaction: 'my order' }],
    ['mail', { email: 'nobody' }],
    ['mail', { email: typed }],
  ] as const) {
    const { body } = await post(`/find/${path}`, fields, { cookie })
    expect(read(body)).toContain(en.find.list.title)
  }
})

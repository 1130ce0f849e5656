import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cacheServers, startCacheServer } from '../harness/cache-servers.ts'
import { noServer } from '../harness/server.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, buy, get, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

/*
 * A shared cache in front of the store, told to keep whatever it may: what is one buyer's must never
 * come to another one by the same address (RFC 9111, 3).
 */

const store = useStore({ offers: 200 })

/** Whether a cache gave the answer without asking the store. */
/** A receipt is signed whenever it is asked for, and says when. */
const unsigned = ({ receipt: _, ...body }: Record<string, unknown>) => body

const isKept = ({ headers }: { readonly headers: Headers }) => headers.get('x-cache') === 'HIT'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each(cacheServers)('behind $name', (server) => {
  const why = noServer(server)
  let front: Awaited<ReturnType<typeof startCacheServer>>
  beforeAll(async () => {
    if (why === undefined) front = await startCacheServer(server, store.url)
  })
  afterAll(() => front?.stop())

  test.skipIf(why)('what anybody may read is kept, so that the cache is one', async () => {
    const answers = [await get(front.url, '/ai/vouchers'), await get(front.url, '/ai/vouchers')]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.some(isKept)).toBe(server.keeps)
  })

  test.skipIf(why)(
    'neither of two buyers is given the order or the goods of the other',
    async () => {
      const at = { ...store, url: front.url }
      const body = bodyFor('voucher', 'OK')
      const [one, two] = [await newBuyer(), await newBuyer()]
      const first = await buy(at, one, 'voucher', body)
      // The same address and the same body; without a payment it is asked for one, not answered by another's.
      const asked = await post(at.url, purchasePath('voucher'), body)
      expect([asked.status, asked.headers.get('cache-control')]).toEqual([402, 'no-store'])
      const second = await buy(at, two, 'voucher', body)
      const [mine, theirs] = [first.answer.body, second.answer.body]
      expect([first.answer.status, second.answer.status]).toEqual([200, 200])
      expect(theirs.orderId).not.toBe(mine.orderId)
      const { code } = mine.orders[0].result
      expect(JSON.stringify(theirs)).not.toContain(code)

      const path = '/api/catalog/orders'
      const places = [
        `${path}/${mine.orderId}`,
        `${path}?paymentId=${mine.paymentId}`,
        `${path}?transactionHash=${mine.transactionHash}`,
        `${path}/${mine.orderId}/receipt`,
      ]
      for (const place of places) {
        const own = await get(at.url, place, bearer(mine.accessToken))
        expect(own.status, place).toBe(200)
        expect(own.headers.get('cache-control'), place).toBe('no-store')
        expect(JSON.stringify(own.body), place).toContain(code)
        for (const others of [{}, bearer(theirs.accessToken), { cookie: 'access=kat_x' }]) {
          const stranger = await get(at.url, place, others)
          expect([stranger.status, isKept(stranger)], place).toEqual([200, false])
          expect(JSON.stringify(stranger.body), place).not.toContain(code)
        }
        const again = await get(at.url, place, bearer(mine.accessToken))
        expect(unsigned(again.body)).toEqual(unsigned(own.body))
      }
    },
  )

  test.skipIf(why)(
    'demands, refusals and private pages are asked of the store each time',
    async () => {
      const body = bodyFor('esim', 'OK')
      const { answer } = await buy({ url: front.url }, await newBuyer(), 'esim', body)
      const { orderId, accessToken } = answer.body
      const demands = [1, 2].map(() => get(front.url, '/api/catalog/orders'))
      const nothing = [1, 2].map(() => get(front.url, `/api/catalog/orders/ord_${'0'.repeat(26)}`))
      for (const told of await Promise.all([...demands, ...nothing])) {
        expect([402, 404]).toContain(told.status)
        expect([told.headers.get('cache-control'), isKept(told)]).toEqual(['no-store', false])
      }
      const page = `/orders/${orderId}`
      const own = await read(`${front.url}${page}`, { cookie: `access=${accessToken}` })
      expect([own.kept, own.cacheControl]).toEqual([false, 'no-store'])
      expect(own.text).toContain('Show the eSIM')
      for (const query of ['', '?', '?utm_source=mail']) {
        const stranger = await read(`${front.url}${page}${query}`)
        expect(stranger.kept).toBe(false)
        expect(stranger.text).not.toContain('Show the eSIM')
      }
    },
  )
})

async function read(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers })
  const cacheControl = answer.headers.get('cache-control')
  return { kept: isKept(answer), cacheControl, text: await answer.text() }
}

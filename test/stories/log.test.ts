import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { buyWith, openClient } from './mcp/client.ts'
import { bodyFor, buy, eventually, get } from './requests.ts'
import { openStore, type Store } from './store.ts'

// What an operator finds in the log, and what is not there.

const token = 'a-token-for-the-scraper'
let store: Store
beforeAll(async () => {
  store = await openStore({ coins: {}, env: { METRICS_TOKEN: token } })
})
afterAll(() => store.close())

const lines = (of: Readonly<Record<string, string>>) =>
  store.logLines
    .map((line) => JSON.parse(line))
    .filter((line) => Object.entries(of).every(([name, value]) => line[name] === value))

test('the request id of a purchase leads to its order, also when it is sent again', async () => {
  const { answer, send } = await buy(store, await newBuyer(), 'voucher', bodyFor('voucher', 'OK'))
  const again = await send()
  const order = answer.body.orderId
  const ids = [answer, again].map(({ headers }) => headers.get('x-request-id'))
  const found = await eventually(
    async () => lines({ order }),
    (some) => some.length === 2,
  )
  expect(found.map(({ reqId }) => reqId)).toEqual(ids)
  expect(found.map(({ msg, status }) => [msg, status])).toEqual([
    ['request', 200],
    ['request', 200],
  ])
})

test.each(['over HTTP', 'by a tool'])(
  'what went wrong with a purchase %s has the request id that its buyer was told',
  async (way) => {
    const body = bodyFor('voucher', 'OK')
    const buyer = await newBuyer()
    await store.query(`create function refuse_for_the_test() returns trigger language plpgsql as $$
    begin raise exception 'defect'; end $$`)
    await store.query(`create trigger refuse_for_the_test before insert on payment_reservations
    execute function refuse_for_the_test()`)
    try {
      const told =
        way === 'by a tool' ? await boughtByTool(buyer, body) : await boughtOverHttp(buyer, body)
      const [failed] = await eventually(
        async () => lines({ event: 'purchase_failed', reqId: told }),
        (some) => some.length > 0,
      )
      expect(failed).toMatchObject({ level: 50, error: { message: 'defect' } })
    } finally {
      await store.query('drop function refuse_for_the_test cascade')
    }
  },
)

async function boughtOverHttp(buyer: Buyer, body: Fields): Promise<string> {
  const { answer } = await buy(store, buyer, 'voucher', body)
  expect(answer.status).toBe(503)
  return answer.body.requestId
}

async function boughtByTool(buyer: Buyer, body: Fields): Promise<string> {
  const { call, close } = await openClient(store, '2025-11-25')
  const { bought } = await buyWith(call, buyer, body)
  await close()
  expect(bought.isError).toBe(true)
  return bought.data.requestId
}

type Fields = ReturnType<typeof bodyFor>

test('requests beyond a limit are counted, and leave no line', async () => {
  const oneClient = { 'x-forwarded-for': '10.1.1.1' }
  const answers = await Promise.all(
    Array.from({ length: 90 }, () => get(store.url, '/ai/vouchers?limit=1', oneClient)),
  )
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
  const route = '/ai/vouchers'
  const logged = await eventually(
    async () => lines({ route }),
    (some) => some.length >= 60,
  )
  expect(logged.map(({ status }) => status)).toEqual(Array(60).fill(200))
  const metrics = await fetch(`${store.url}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await metrics.text()).toContain(
    `kiosk402_http_requests_total{route="${route}",method="GET",status="429"} 30`,
  )
})

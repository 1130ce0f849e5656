import { expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { buyWith, openClient } from './mcp/client.ts'
import { bodyFor, buy, eventually } from './requests.ts'
import { useStore } from './store.ts'

// What an operator finds in the log, and what is not there.

const store = useStore()

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

import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
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

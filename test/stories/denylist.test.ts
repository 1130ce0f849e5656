import { expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import type { Context } from '../../src/commands/act.ts'
import { denylist as denylistAct } from '../../src/commands/denylist.ts'
import type { Operator } from '../../src/operator/operator.ts'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { choose, ledgerOf, sendChoice } from './coins/person.ts'
import { bodyFor, buy, buyDelivered, eventually, until } from './requests.ts'
import { useStore } from './store.ts'

// The operator lists whom the store sells nothing to, and pays nothing back without a person.

const store = useStore({ lookEveryMs: 100, coins: {}, env: { PURCHASE_WAIT_SECONDS: '1' } })

const reason = ['--reason', 'A story']

/** `kiosk402 denylist`, with the lines that it prints. */
async function denylist(...args: readonly string[]): Promise<string> {
  const options = { applicationName: 'story', poolSize: 1, onError: () => undefined }
  const database = openDatabase(store.databaseUrl, options)
  const withOperator: Context['withOperator'] = (work) => work({ database, by: 'ann' } as Operator)
  const { lines } = await denylistAct
    .run(args, { withOperator } as Context)
    .finally(() => database.end())
  return lines.join('\n')
}

const declined = {
  status: 403,
  body: { code: 'purchase_declined', charged: 'no', retryable: false },
}

test('a wallet on the list pays nothing, and is given what it bought before', async () => {
  const buyer = await newBuyer()
  const body = bodyFor('voucher', 'OK')
  const before = await buyDelivered(store, buyer, 'voucher', { headers: newKey() })
  await denylist('add', buyer.address, ...reason)
  const refused = await eventually(
    () => buy(store, buyer, 'voucher', body),
    ({ answer: { status } }) => status === 403,
  )
  expect(refused.answer).toMatchObject(declined)
  expect(await before.send()).toMatchObject({ body: { orderId: before.order.orderId } })

  const paid = await transfersBetween(store.parts, buyer.address, store.payTo)
  await denylist('remove', buyer.address, ...reason)
  const again = await eventually(
    () => refused.send(),
    ({ status }) => status !== 403,
  )
  await until(store, again.body.orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  const then = await transfersBetween(store.parts, buyer.address, store.payTo)
  expect(then).toHaveLength(paid.length + 1)
})

test('an address of a coin on the list pays nothing, and gets nothing back', async () => {
  const paying = await choose(store, 'LTC', { outcome: 'DECLINED' })
  await denylist('add', paying.refundTo, ...reason)
  await eventually(
    () => sendChoice(store, 'LTC', { refundTo: paying.refundTo }),
    ({ answer: { status } }) => status === 403,
  )
  const { answer } = await sendChoice(store, 'LTC', { refundTo: paying.refundTo.toUpperCase() })
  expect(await answer.text()).toContain('We can’t take this order. You haven’t been charged.')

  await store.btcpay(`/invoices/${paying.invoice}/pay`)
  await until(store, paying.orderId, ({ refund_state }) => refund_state === 'REFUND_FAILED')
  const { outgoing } = (await ledgerOf(store)).LTC
  expect(outgoing.filter(({ address }) => address === paying.refundTo)).toEqual([])
})

function newKey(): Record<string, string> {
  return { 'idempotency-key': `claim-${crypto.randomUUID()}` }
}

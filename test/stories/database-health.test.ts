import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { query } from '../harness/query.ts'
import { startTcpProxy } from '../harness/tcp-proxy.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, eventually, get, post, purchasePath, termsOf } from './requests.ts'
import { openNode, openStore, type Store, siblingSettings } from './store.ts'

// A database that is not as it should be is seen soon, and everything that tells of it agrees.

let store: Store
let node: Awaited<ReturnType<typeof openNode>>
let line: Awaited<ReturnType<typeof startTcpProxy>>
let name: string

beforeAll(async () => {
  store = await openStore()
  const address = new URL(store.databaseUrl)
  name = address.pathname.slice(1)
  line = await startTcpProxy({ host: address.hostname, port: Number(address.port) })
  address.port = String(line.port)
  address.hostname = '127.0.0.1'
  const settings = await siblingSettings(store)
  node = await openNode({ ...settings, databaseUrl: address.href }, store.parts)
})
afterAll(async () => {
  line.set('open')
  await node.close()
  await line.close()
  await store.close()
})

const atServer = (sql: string) => query(inject('parts').databaseUrl, sql)
const askPrice = () => post(node.url, purchasePath('voucher'), bodyFor('voucher', 'OK'))

/** What balancers, agents and buyers are told. */
async function told() {
  const ready = await get(node.url, '/readyz')
  const { signals } = (await get(node.url, '/.well-known/x402')).body
  const price = await askPrice()
  return {
    live: (await get(node.url, '/livez')).status,
    ready: ready.status,
    database: ready.body.parts.database.state,
    agents: signals.agent_action,
    buyers: price.status === 402 ? 'price' : price.body.code,
  }
}

const asItIsDown = {
  live: 200,
  ready: 503,
  database: 'down',
  agents: 'stop',
  buyers: 'store_paused',
}

const becomesReady = () =>
  eventually(
    () => get(node.url, '/readyz'),
    ({ status }) => status === 200,
  )
const becomesDown = () =>
  eventually(
    () => get(node.url, '/readyz'),
    ({ status }) => status === 503,
  )

async function readOnly(isReadOnly: boolean): Promise<void> {
  await atServer(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`)
  await atServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
}

const states = [
  { is: 'frozen', begin: async () => line.set('frozen'), end: async () => line.set('open') },
  { is: 'read-only', begin: () => readOnly(true), end: () => readOnly(false) },
]

test.each(states)('a database that is $is stops everything that sells', async ({ begin, end }) => {
  await becomesReady()
  await begin()
  try {
    await becomesDown()
    expect(await told()).toEqual(asItIsDown)
  } finally {
    await end()
  }
  await becomesReady()
  expect((await askPrice()).status).toBe(402)
})

test('a full disk is seen by the first write that it refuses, though every look goes well', async () => {
  await becomesReady()
  const buyer = await newBuyer()
  const { header } = await buyer.sign(await termsOf(node.url, 'voucher', bodyFor('voucher', 'OK')))
  await store.query(`create function no_room() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'disk_full', message = 'No space left'; end $$`)
  await store.query(`create trigger no_room before insert on payment_reservations
    execute function no_room()`)
  const pay = () =>
    post(node.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
      'payment-signature': header,
    })
  const refused = await pay()
  expect(refused).toMatchObject({ status: 503, body: { code: 'try_again' } })
  expect(await told()).toEqual(asItIsDown)

  await store.query('drop trigger no_room on payment_reservations')
  await becomesReady()
  expect([200, 202]).toContain((await pay()).status)
})

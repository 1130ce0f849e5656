import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyIdOf } from '../../src/secrets/secrets.ts'
import { secretsKey } from '../harness/node.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, eventually, get, post, purchasePath, termsOf } from './requests.ts'
import { openNode, openStore, type Store, siblingSettings } from './store.ts'

type Node = Awaited<ReturnType<typeof openNode>>

const newKey = randomBytes(32)

let store: Store
let nodes: [Node, Node]

beforeAll(async () => {
  store = await openStore({ stepMs: 20 })
  nodes = [
    { ...store, close: store.halt },
    await openNode(await siblingSettings(store), store.parts),
  ]
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await store.close()
})

interface Sold {
  readonly orderId: string
  readonly accessToken: string
  readonly result: unknown
}
const everything: Sold[] = []

async function expectOpens(at: Node, { orderId, accessToken, result }: Sold): Promise<void> {
  const authorization = `Bearer ${accessToken}`
  const opened = await get(at.url, `/api/catalog/orders/${orderId}`, { authorization })
  expect(opened).toMatchObject({ status: 200, body: { orders: [{ result }] } })
}

/** Takes the price at one node, pays at the other, and reads the code at both. Returns it as it was sealed. */
async function expectSold(from: Node, at: Node): Promise<string> {
  const buyer = await newBuyer()
  const body = bodyFor('voucher', 'OK')
  const { header } = await buyer.sign(await termsOf(from.url, 'voucher', body))
  const headers = { 'payment-signature': header }
  const bought = await post(at.url, purchasePath('voucher'), body, headers)
  expect(bought).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
  const { orderId, accessToken, orders } = bought.body
  const sold = { orderId, accessToken, result: orders[0].result }
  for (const node of [from, at]) await expectOpens(node, sold)
  everything.push(sold)
  const [{ delivery }] = await store.query('select delivery from orders where id = $1', [orderId])
  return delivery
}

async function restart(which: 0 | 1, secrets: readonly string[]): Promise<void> {
  const { settings, parts } = nodes[which]
  await nodes[which].close()
  nodes[which] = await openNode({ ...settings, secrets }, parts)
}

const expectSoldAtBoth = async () => {
  const [one, other] = nodes
  return [await expectSold(one, other), await expectSold(other, one)]
}

test('a new key is listed last and then first, at one node after the other, while both sell', async () => {
  const [old, added] = [secretsKey.toString('base64'), newKey.toString('base64')]
  await expectSoldAtBoth()
  const sealedWith: string[] = []
  for (const secrets of [
    [old, added],
    [added, old],
  ]) {
    for (const which of [1, 0] as const) {
      await restart(which, secrets)
      for (const sealed of await expectSoldAtBoth()) sealedWith.push(sealed.split('.')[1] ?? '')
    }
  }
  const [oldId, newId] = [keyIdOf(secretsKey), keyIdOf(newKey)]
  // Each pair was bought at node 1 and then at node 0.
  expect(sealedWith).toEqual([oldId, oldId, oldId, oldId, newId, oldId, newId, newId])
  for (const node of nodes) for (const sold of everything) await expectOpens(node, sold)
})

test('a node that lacks the key of the others says so, and so do they', async () => {
  const settings = await siblingSettings(store)
  const secrets = [secretsKey.toString('base64')]
  const stranger = await openNode({ ...settings, secrets }, store.parts)
  for (const { logLines } of [stranger, nodes[1]]) {
    await eventually(() => logLines.some((line) => line.includes('"SECRETS_KEY"]')), Boolean)
  }
  await stranger.close()
})

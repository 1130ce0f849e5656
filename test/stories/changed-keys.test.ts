import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KeyMissing } from '../../src/nodes/nodes.ts'
import { keyIdOf } from '../../src/secrets/vault.ts'
import { secretsKey } from '../harness/node.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, eventually, get, post, purchasePath, termsOf } from './requests.ts'
import { openNode, openStore, type Store, siblingSettings } from './store.ts'

type Node = Awaited<ReturnType<typeof openNode>>

const newKey = randomBytes(32)
const before = [secretsKey.toString('base64')]
const after = [newKey.toString('base64'), ...before]

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

test('a new key is put in front at one node after the other, while both sell', async () => {
  await expectSoldAtBoth()
  await restart(1, after)
  for (const sealed of await expectSoldAtBoth())
    expect(sealed).toContain(`v1.${keyIdOf(secretsKey)}.`)
  await restart(0, after)
  await expectSoldAtBoth()
  await eventually(
    () => store.query('select used_key from nodes'),
    (rows) => rows.every(({ used_key }) => used_key === keyIdOf(newKey)),
  )
  for (const sealed of await expectSoldAtBoth()) expect(sealed).toContain(`v1.${keyIdOf(newKey)}.`)
  for (const node of nodes) for (const sold of everything) await expectOpens(node, sold)
})

test('a node that lacks the key in use does not start', async () => {
  const settings = await siblingSettings(store)
  const starting = openNode({ ...settings, secrets: before }, store.parts)
  await expect(starting).rejects.toThrow(KeyMissing)
  await expectSoldAtBoth()
})

test('a lost key has to be given up by its id before a store starts without it', async () => {
  for (const node of nodes) await node.close()
  const { settings, parts } = nodes[0]
  const secrets = [randomBytes(32).toString('base64')]
  await expect(openNode({ ...settings, secrets }, parts)).rejects.toThrow(
    `SECRETS_KEY_LOST=${keyIdOf(newKey)}`,
  )
  const node = await openNode({ ...settings, secrets, lostKeys: [keyIdOf(newKey)] }, parts)
  nodes[0] = node
  await expectSold(node, node)
})

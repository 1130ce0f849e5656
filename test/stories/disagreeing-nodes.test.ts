import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyFor, eventually, termsOf } from './requests.ts'
import { openNode, type Store, siblingSettings, useStore } from './store.ts'

const token = 'a-token-for-the-scraper'
const store = useStore({ env: { METRICS_TOKEN: token } })
let sibling: Awaited<ReturnType<typeof openNode>>

const openWith = async (env: Record<string, string>) => {
  const settings = await siblingSettings(store, { PUBLIC_URL: store.url, ...env })
  return openNode(settings, store.parts)
}

beforeAll(async () => {
  sibling = await openWith({ MARKUP_BPS: '500' })
})
afterAll(async () => {
  await sibling.close()
})

type Asked = Pick<Store, 'url' | 'logLines'>

const said = ({ logLines }: Asked, message: string) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message)

const differ = 'nodes of this store differ in settings that must agree'

async function metricsOf({ url }: Asked): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const page = await (await fetch(`${url}/metrics`, { headers })).text()
  return page.split('\n').filter((line) => line.startsWith('kiosk402_nodes'))
}

const disagreements = async (at: Asked) =>
  (await metricsOf(at)).filter((line) => line.includes('_disagree'))

test('two nodes with different prices say so, each once, in log and metrics', async () => {
  const prices = await Promise.all(
    [store, sibling].map(({ url }) => termsOf(url, 'voucher', bodyFor('voucher', 'OK'))),
  )
  expect(prices[0]?.amount).not.toBe(prices[1]?.amount)
  for (const node of [store, sibling]) {
    const lines = await eventually(
      async () => disagreements(node),
      (found) => found.length > 0,
    )
    expect(lines).toEqual([
      expect.stringMatching(/^kiosk402_nodes_disagree\{.*setting="MARKUP_BPS"\} 1$/),
    ])
    expect(said(node, differ)).toEqual([
      expect.objectContaining({ level: 40, settings: ['MARKUP_BPS'], nodes: [expect.any(String)] }),
    ])
  }
})

test('a node of another version is shown as one', async () => {
  const [name] = said(store, differ)[0].nodes
  await store.query(`update nodes set version = '0.0.9' where name = $1`, [name])
  await eventually(
    () => metricsOf(store),
    (lines) => lines.some((line) => line.includes('0.0.9')),
  )
})

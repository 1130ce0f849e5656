import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningSandbox } from '../../sandbox/connection.ts'
import { plainEnvironment } from '../../sandbox/process.ts'
import { type ChildStore, newDataDir, startChildStore } from '../child-store.ts'
import { query } from '../harness/query.ts'
import { archiveAll, settled } from '../stories/archiving.ts'
import { newBuyer } from '../stories/buyer.ts'
import { bodyFor, buy, get } from '../stories/requests.ts'

let dataDir: string
let store: ChildStore

beforeAll(async () => {
  dataDir = await newDataDir()
  store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '600' } })
})
afterAll(async () => {
  await store.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** The command as an operator runs it, in a process of its own. */
async function archive(...args: readonly string[]) {
  const child = spawn(process.execPath, ['src/commands/archive.ts', ...args], {
    env: { ...plainEnvironment(), DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, out, err }
}

test('an operator archives what ended long ago, and shows an order with its goods', async () => {
  const { rpcUrl, usdc } = (await get(store.url, '/sandbox')).body
  const ada = await newBuyer(0n, { rpcUrl, usdc, keys: { minter: '0x' } })
  await fetch(`${store.url}/sandbox/faucet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: ada.address }),
  })
  const { answer } = await buy(store, ada, 'voucher', bodyFor('voucher', 'OK'))
  const { orderId, orders } = answer.body
  const dir = join(dataDir, 'archive')
  expect(await archive('--to', dir)).toMatchObject({ code: 0, out: expect.stringMatching(/^0 /) })
  const unknown = await archive('--from', dir, '--show', orderId)
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('no order is archived') })
  expect((await archive('--to', dir, '--before', '2999-01')).code).toBe(2)

  const { databaseUrl = '' } = (await runningSandbox(dataDir)) ?? {}
  await settled({ query: (sql, values = []) => query(databaseUrl, sql, values) })
  expect(await archiveAll({ databaseUrl }, dir)).toBe(1)

  const shown = await archive('--from', dir, '--show', orderId)
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(shown.out).order.id).toBe(orderId)
  expect(shown.out).not.toContain('"goods"')
  const opened = await archive('--from', dir, '--show', orderId, '--goods')
  expect(JSON.parse(opened.out).goods).toMatchObject(orders[0].result)
})

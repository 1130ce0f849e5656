import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apiKey, ask, finalOf, startTestSupplier } from './client.fixture.ts'

let folder = ''
let dataFile = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'supplier-'))
  dataFile = join(folder, 'deep', 'ledger.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))
const buy = (url: string, transactionId: string, offerId = 'TEST-ESIM-OK') =>
  ask(`${url}/v1/esim/purchases`, { offerId, transactionId })

test('keeps purchases, refunds and wallet, finishes what was begun, and takes no id twice', async () => {
  const first = await startTestSupplier({ dataFile })
  await buy(first.url, 'DONE1')
  const done = await finalOf(`${first.url}/v1/esim/purchases/DONE1`)
  await ask(`${first.url}/v1/esim/purchases/DONE1/refund`, undefined, 'POST')
  await buy(first.url, 'OPEN1')
  await buy(first.url, 'LATE1', 'TEST-ESIM-LATE')
  await Promise.all([first.stop(), first.stop()])

  appendFileSync(dataFile, '{"entries":[{"type":"purch')
  const second = await startTestSupplier({ dataFile })
  try {
    expect((await finalOf(`${second.url}/v1/esim/purchases/OPEN1`)).status).toBe('DONE')
    expect((await finalOf(`${second.url}/v1/esim/purchases/LATE1`)).status).toBe('DONE')
    expect((await finalOf(`${second.url}/v1/esim/purchases/DONE1/refund`)).amount).toBe(45)
    const kept = (await ask(`${second.url}/v1/esim/purchases/DONE1`)).body
    expect(kept.confirmation).toEqual(done.confirmation)
    expect((await buy(second.url, 'OPEN1')).status).toBe(400)
    const { body } = await ask(`${second.url}/_admin/ledger`)
    expect(body.wallet).toEqual({ available: 100_000_000 - 45 - 65, held: 0, spent: 45 + 65 })
    const health = (await ask(`${second.url}/healthz`)).body
    expect(health.instance).toMatch(/^[0-9a-f]{16}$/)
  } finally {
    await second.stop()
  }
  for (const line of readFileSync(dataFile, 'utf8').trim().split('\n')) JSON.parse(line)
})

test('works as a process: says when it is ready and ends at once on SIGTERM', async () => {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts')], {
    env: {
      ...process.env,
      SUPPLIER_API_KEY: apiKey,
      SUPPLIER_DATA_FILE: dataFile,
      SUPPLIER_PORT: '0',
      SANDBOX_OFFERS: '600',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { ready, port, pid } = JSON.parse(line)
  expect([ready, pid]).toEqual([true, child.pid])
  const url = `http://127.0.0.1:${port}`
  expect((await ask(`${url}/healthz`)).body).toMatchObject({ ok: true, offers: 600 })
  await buy(url, 'HANG1', 'TEST-ESIM-HANG')
  const asked = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(performance.now() - asked).toBeLessThan(1000)
})

test('is refused without a key, with a sentence that names it', async () => {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts')], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const parts: Buffer[] = []
  child.stderr.on('data', (part: Buffer) => parts.push(part))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(Buffer.concat(parts).toString()).toContain('SUPPLIER_API_KEY')
})

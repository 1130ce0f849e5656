import { appendFileSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataFileOfTest } from '../data-file.fixture.ts'
import { ask, finalOf, startTestSupplier } from './client.fixture.ts'

const dataFile = dataFileOfTest()
const buy = (url: string, transactionId: string, offerId = 'TEST-ESIM-OK') =>
  ask(`${url}/v1/esim/purchases`, { offerId, transactionId })

test('keeps purchases, refunds and wallet, finishes what was begun, and takes no id twice', async () => {
  const first = await startTestSupplier({ dataFile: dataFile() })
  await buy(first.url, 'DONE1')
  const done = await finalOf(`${first.url}/v1/esim/purchases/DONE1`)
  await ask(`${first.url}/v1/esim/purchases/DONE1/refund`, undefined, 'POST')
  await buy(first.url, 'OPEN1')
  await buy(first.url, 'LATE1', 'TEST-ESIM-LATE')
  await Promise.all([first.stop(), first.stop()])

  appendFileSync(dataFile(), '{"entries":[{"type":"purch')
  const second = await startTestSupplier({ dataFile: dataFile() })
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
  for (const line of readFileSync(dataFile(), 'utf8').trim().split('\n')) JSON.parse(line)
})

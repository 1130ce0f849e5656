import { expect, test } from 'vitest'
import { memoryPayouts } from '../../test/doubles/memory-payouts.ts'
import { memoryProcessor } from '../../test/doubles/memory-processor.ts'
import type { Finding } from '../adapters/btcpay/check.ts'
import { connectCoins, inspectProcessor, reportingProcessor } from './coin-payments.ts'

test('what is not understood of the processor is told once, until something else is heard', async () => {
  const processor = memoryProcessor()
  const said: string[] = []
  const unclear = (reason: string) => said.push(reason)
  const told = reportingProcessor(processor, { unclear, waits: () => {} })
  const wanted = { checkout: 'chk_1', order: 'ord_1', amount: 1_000_000n, coin: 'BTC' } as const
  for (const _ of [1, 2]) {
    processor.failNext('open', { fault: 'unreached' })
    await told.openInvoice(wanted as never)
  }
  expect(said).toEqual(['the processor does not answer'])
  const opened = await told.openInvoice(wanted as never)
  const { id } = opened.outcome === 'open' ? opened.invoice : { id: '' }
  processor.failNext('read', { fault: 'unreached' })
  await told.read(id, 'BTC')
  expect(said).toHaveLength(2)
})

test('why a payout waits is told once, until it waits for something else', async () => {
  const processor = memoryProcessor()
  const said: string[] = []
  const waits = (payout: string, reason: string) => said.push(`${payout}: ${reason}`)
  const told = reportingProcessor(processor, { unclear: () => {}, waits })
  const one = { coin: 'BTC', network: 'Bitcoin', to: 'bc1q', units: 1n } as const
  const [first, second] = ['ord_1', 'ord_2'].map((reference) => ({ ...one, reference }))
  processor.rules.holdsPayouts = true
  for (const payout of [first, second, first, second]) await told.payOut(payout as never)
  processor.failNext('payOut', { fault: 'unreached' })
  await told.payOut(first as never)
  processor.sendPayouts()
  expect(await told.payOut(first as never)).toMatchObject({ outcome: 'paid' })
  expect(said).toEqual([
    'ord_1: the payout waits to be sent',
    'ord_2: the payout waits to be sent',
    'ord_1: the processor does not answer',
  ])
})

test('how the processor answers is its health', async () => {
  const noted: unknown[] = []
  const processor = {
    ...{ url: 'http://127.0.0.1:9', storeId: 'a', apiKey: 'b', isTestnet: true },
    methods: [{ coin: 'BTC', network: 'Bitcoin' }],
  }
  const coins = connectCoins({ processor, invoiceMinutes: 20 } as never, {
    handPayouts: { find: async () => undefined },
    payoutRecord: memoryPayouts(),
    now: () => new Date(),
    checkoutFacts: async () => ({ openByState: {} }),
    health: { noteProcessor: (...outcome) => noted.push(outcome) },
  })
  expect(await coins.rates.read()).toBeUndefined()
  expect(noted).toEqual([[false, expect.stringMatching(/./)]])
})

test('what the processor cannot do is told when it appears, once, and when it is gone', async () => {
  const said: string[] = []
  const logged = (level: string) => (text: unknown) => void said.push(`${level}: ${text}`)
  const log = { error: logged('error'), warn: logged('warn'), info: logged('info') }
  let found: readonly Finding[] = []
  const inspect = inspectProcessor(async () => found, log as never)
  await inspect()
  found = [{ level: 'fault', text: 'The API key lacks x.' }]
  for (let at = 0; at < 3; at += 1) expect(await inspect()).toBe(true)
  found = [{ level: 'notice', text: 'No webhook.' }]
  await inspect()
  expect(said).toEqual([
    'error: payment processor: The API key lacks x.',
    'warn: payment processor: No webhook.',
    'info: payment processor: resolved: The API key lacks x.',
  ])
})

test('an operator who takes the processor away hears of the checkouts that wait for it', async () => {
  const connected = (openByState: Readonly<Record<string, number>>) =>
    connectCoins({ processor: undefined, invoiceMinutes: 20 } as never, {
      handPayouts: { find: async () => undefined },
      payoutRecord: memoryPayouts(),
      now: () => new Date(),
      checkoutFacts: async () => ({ openByState }),
    })
  expect(await connected({}).findings()).toEqual([])
  expect(await connected({ OPEN: 2, ENDED: 1 }).findings()).toEqual([
    { level: 'fault', text: expect.stringContaining('3 checkouts in coins are not closed') },
  ])
})

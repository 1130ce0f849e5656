import { expect, test } from 'vitest'
import { memoryProcessor } from '../test/doubles/memory-processor.ts'
import { connectCoins, telling } from './coin-payments.ts'

test('what is not understood of the processor is told once, until something else is heard', async () => {
  const processor = memoryProcessor()
  const said: string[] = []
  const told = telling(processor, (reason) => said.push(reason))
  const wanted = { checkout: 'chk_1', order: 'ord_1', amount: 1_000_000n, coin: 'BTC' } as const
  for (const _ of [1, 2]) {
    processor.failNext('open', { fault: 'unreached' })
    await told.open(wanted as never)
  }
  expect(said).toEqual(['the processor does not answer'])
  const opened = await told.open(wanted as never)
  const { id } = opened.outcome === 'open' ? opened.invoice : { id: '' }
  processor.failNext('read', { fault: 'unreached' })
  await told.read(id, 'BTC')
  expect(said).toHaveLength(2)
})

test('an operator who takes the processor away hears of the checkouts that wait for it', async () => {
  const connected = (openByState: Readonly<Record<string, number>>) =>
    connectCoins({ processor: undefined, invoiceMinutes: 20 } as never, {
      handPayouts: { find: async () => undefined },
      now: () => new Date(),
      checkoutFacts: async () => ({ openByState }),
    })
  expect(await connected({}).findings()).toEqual([])
  expect(await connected({ OPEN: 2, ENDED: 1 }).findings()).toEqual([
    { level: 'fault', text: expect.stringContaining('3 checkouts in coins are not closed') },
  ])
})

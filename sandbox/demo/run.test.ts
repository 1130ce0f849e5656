import { expect, test } from 'vitest'
import { demoAt } from './demo.fixture.ts'
import type { Step, Story } from './demo.ts'
import type { Purchase } from './ledger.ts'
import { jsonPrinter } from './print.ts'
import { run } from './run.ts'

/** Runs steps while the balance of the wallet really changes by `moves`, one for each step. */
async function play(steps: readonly Step[], moves: readonly bigint[]) {
  let held = 0n
  let turn = 0
  const moving = steps.map((step) => ({
    ...step,
    run: (...given: Parameters<Step['run']>) => {
      held += moves[turn++] ?? 0n
      return step.run(...given)
    },
  }))
  const lines: unknown[] = []
  const { demo } = demoAt('http://127.0.0.1:9', { balance: async () => held })
  const printer = jsonPrinter((text) => lines.push(JSON.parse(text)))
  return { well: await run(moving, demo, printer), lines }
}

const step = (name: string, change: bigint, purchase?: Purchase): Step => ({
  name,
  title: name,
  run: async () => ({ change, data: {}, ...(purchase ? { purchase } : {}) }),
})

const purchase: Purchase = {
  offerId: 'TEST-VOUCHER-OK',
  orderId: 'ord_1',
  state: 'FULFILLED',
  paid: 500_000n,
  refunded: 0n,
}

test('each step is printed with the balances around it, and the last learns the story', async () => {
  let story: Story | undefined
  const last: Step = {
    ...step('summary', 0n),
    run: async (_, told) => {
      story = told
      return { change: 0n, data: {} }
    },
  }
  const steps = [step('meet', 1_000_000n), step('buy', -500_000n, purchase), last]
  const { well, lines } = await play(steps, [1_000_000n, -500_000n, 0n])
  expect(well).toBe(true)
  expect(story).toEqual({ start: 1_000_000n, purchases: [purchase], coinPayments: [] })
  expect(lines).toEqual([
    { step: 'meet', ok: true, usdcBefore: '0.00', usdcAfter: '1.00' },
    { step: 'buy', ok: true, usdcBefore: '1.00', usdcAfter: '0.50' },
    { step: 'summary', ok: true, usdcBefore: '0.50', usdcAfter: '0.50' },
  ])
})

test('a wallet that changed by something else ends the run', async () => {
  const steps = [step('buy', -500_000n, purchase), step('never', 0n)]
  const { well, lines } = await play(steps, [-500_001n])
  expect(well).toBe(false)
  const error = 'The wallet should have changed by -0.50 USDC, but changed by -0.500001.'
  expect(lines).toEqual([{ step: 'buy', ok: false, error }])
})

test('a step that fails ends the run with its reason, in one line', async () => {
  const failing: Step = {
    ...step('search', 0n),
    run: async () => {
      throw new Error('Nothing was found.\nA long report follows.')
    },
  }
  const { well, lines } = await play([failing, step('never', 0n)], [])
  expect(well).toBe(false)
  expect(lines).toEqual([{ step: 'search', ok: false, error: 'Nothing was found.' }])
})

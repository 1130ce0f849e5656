import { describe, expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import type { RefundDesk } from '../adapters/storage/refund-desk.ts'
import { usdc } from '../primitives/money.ts'
import { commandOf, statusLines, UsageError } from './refunds-words.ts'

const id = newOrderId()
const other = newOrderId()

describe('the command line', () => {
  test.each([
    [['status'], { does: 'status' }],
    [['stop', '--reason', ' leaked '], { does: 'stop', reason: 'leaked' }],
    [['--reason=leaked', 'stop'], { does: 'stop', reason: 'leaked' }],
    [['start'], { does: 'start', reason: undefined }],
    [['start', '--reason', 'new key'], { does: 'start', reason: 'new key' }],
    [['retry', id], { does: 'retry', names: [id] }],
    [['retry', id, other, id], { does: 'retry', names: [id, other] }],
    [['retry', '--all'], { does: 'retry', names: 'all' }],
  ])('%j is understood', (args, command) => {
    expect(commandOf(args)).toEqual(command)
  })

  test.each([
    [[], 'Say what to do'],
    [['halt'], '"halt" is not known'],
    [['stop'], 'stop needs a reason'],
    [['stop', '--reason', '  '], 'stop needs a reason'],
    [['stop', '--reason'], 'argument missing'],
    [['stop', 'leaked', '--reason', 'x'], 'takes no order'],
    [['stop', '--all', '--reason', 'x'], '--all is only for retry'],
    [['status', '--all'], '--all is only for retry'],
    [['status', '--reason', 'x'], '--reason is only for'],
    [['status', id], 'takes no order'],
    [['retry'], 'needs the id of an order'],
    [['retry', 'ord_1'], '"ord_1" is not the id of an order'],
    [['retry', id, '--all'], 'not both'],
    [['retry', id, '--reason', 'x'], '--reason is only for'],
    [['status', '--force'], '--force'],
  ])('%j is refused: %s', (args, message) => {
    expect(() => commandOf(args)).toThrow(UsageError)
    expect(() => commandOf(args)).toThrow(message)
  })
})

const at = new Date('2026-03-01T10:00:00Z')
const calm: RefundDesk = {
  turned: { stopped: false, reason: null, by: null, at },
  granted: { hour: usdc(0n), day: usdc(12_500_000n) },
  open: [],
}
const caps = { hour: usdc(1_000_000_000n), day: usdc(5_000_000_000n) }

describe('the status', () => {
  test('of a store without open refunds', () => {
    expect(statusLines(calm, caps)).toEqual([
      'Refunds go out.',
      'Granted in the last hour 0.00 of 1000.00 USDC, in the last day 12.50 of 5000.00 USDC.',
      '',
      'Refunds failed and waiting for you: none',
      'Refunds under way: none',
    ])
  })

  test('names who stopped refunds and why, and every open refund', () => {
    const payee = `0x${'ab'.repeat(20)}`
    const amount = usdc(650_000n)
    const lines = statusLines(
      {
        ...calm,
        turned: { stopped: true, reason: 'The key may have leaked.', by: 'ada@desk', at },
        open: [
          { order: id, amount, payee, step: 'FAILED', code: 'no_float', since: at },
          { order: other, amount, payee, step: 'DUE', code: null, since: at },
        ],
      },
      caps,
    )
    expect(lines[0]).toBe(
      'Refunds are STOPPED since 2026-03-01T10:00:00.000Z by ada@desk: The key may have leaked.',
    )
    expect(lines.slice(3)).toEqual([
      'Refunds failed and waiting for you: 1, 0.65 USDC',
      `  ${id}       0.65 USDC  to ${payee}  no_float  since 2026-03-01T10:00:00.000Z`,
      'Refunds under way: 1, 0.65 USDC',
      `  ${other}       0.65 USDC  to ${payee}  DUE  since 2026-03-01T10:00:00.000Z`,
    ])
  })
})

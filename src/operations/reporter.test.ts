import { expect, test, vi } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { createLog } from '../logging/log.ts'
import type { StoreEvent } from '../orders/ports.ts'
import { reporterTo } from './reporter.ts'

const order = newOrderId()
const error = new Error('broken')
const charge = { currency: 'USD', divisor: 100, amount: 45 }

test.each<[StoreEvent, number]>([
  [{ name: 'goods_returned', order }, 40],
  [{ name: 'goods_lost', order }, 50],
  [{ name: 'charge_rose', order, listed: charge, charged: charge }, 40],
  [{ name: 'refund_failed', order, reason: 'no_gas' }, 50],
  [{ name: 'payment_vanished', order }, 50],
  [{ name: 'purchase_failed', error }, 50],
  [{ name: 'step_failed', order, error }, 50],
])('$name is heard', (event, level) => {
  const lines: string[] = []
  reporterTo(createLog('info', { write: (line: string) => lines.push(line) }))(event)
  const line = JSON.parse(lines[0] ?? '')
  expect(line).toMatchObject({ level, event: event.name, msg: event.name })
  if ('order' in event) expect(line.order).toBe(order)
  if ('error' in event) expect(line.error).toMatchObject({ type: 'Error', message: 'broken' })
})

test('a refund that is held back is logged once an hour, and at once for another reason', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const logged: string[] = []
  const report = reporterTo(createLog('info', { write: (line: string) => logged.push(line) }))
  const other = newOrderId()
  for (let minute = 0; minute < 120; minute += 1) {
    report({ name: 'refund_held', order, reason: minute < 90 ? 'stopped' : 'hour_cap' })
    report({ name: 'refund_held', order: other, reason: 'stopped' })
    vi.advanceTimersByTime(60_000)
  }
  const ofOrder = logged
    .filter((line) => line.includes(order))
    .map((line) => JSON.parse(line).reason)
  expect(ofOrder).toEqual(['stopped', 'stopped', 'hour_cap'])
  expect(logged).toHaveLength(5)
})

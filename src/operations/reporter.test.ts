import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { createLog } from '../log.ts'
import type { Happening } from '../orders/report.ts'
import { reporterTo } from './reporter.ts'

const order = newOrderId()
const error = new Error('broken')
const charge = { currency: 'USD', divisor: 100, amount: 45 }

test.each<[Happening, number]>([
  [{ name: 'goods_returned', order }, 40],
  [{ name: 'goods_lost', order }, 50],
  [{ name: 'charge_rose', order, listed: charge, charged: charge }, 40],
  [{ name: 'refund_failed', order, reason: 'no_gas' }, 50],
  [{ name: 'payment_vanished', order }, 50],
  [{ name: 'purchase_failed', error }, 50],
  [{ name: 'step_failed', order, error }, 50],
])('$name is heard', (happening, level) => {
  const lines: string[] = []
  reporterTo(createLog('info', { write: (line: string) => lines.push(line) }))(happening)
  const line = JSON.parse(lines[0] ?? '')
  expect(line).toMatchObject({ level, happening: happening.name, msg: happening.name })
  if ('order' in happening) expect(line.order).toBe(order)
  if ('error' in happening) expect(line.error).toMatchObject({ type: 'Error', message: 'broken' })
})

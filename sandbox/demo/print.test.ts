import { expect, test } from 'vitest'
import { humanPrinter, jsonPrinter, table, wantsColours } from './print.ts'

const step = { name: 'buy_voucher', title: 'Buy a voucher' }
const report = { before: 1_000_000n, after: 500_000n, data: { orderId: 'ord_1' } }

function collector() {
  const written: string[] = []
  return { write: (text: string) => written.push(text), all: () => written.join('') }
}

test('for people: a heading, what happened, and the balances', () => {
  const { write, all } = collector()
  const printer = humanPrinter(write, false)
  printer.begin(step, { number: 3, of: 9 })
  printer.fact('Code', 'SBX-1')
  printer.note('waiting')
  printer.block('a\n\nb')
  printer.end(step, report)
  expect(all()).toBe(`
3/9  Buy a voucher
     Code         SBX-1
     … waiting
     a

     b
     Wallet       1.00 → 0.50 USDC
`)
})

test('colours are escape codes around the same text', () => {
  const show = (colours: boolean) => {
    const { write, all } = collector()
    const printer = humanPrinter(write, colours)
    printer.begin(step, { number: 3, of: 9 })
    printer.end(step, report)
    printer.fail('buy_voucher', 'No.')
    return all()
  }
  const esc = String.fromCharCode(27)
  const codes = new RegExp(`${esc}\\[\\d+m`, 'g')
  expect(show(true)).toMatch(codes)
  expect(show(true).replaceAll(codes, '')).toBe(show(false))
})

test('for programs: one JSON line a step and nothing between', () => {
  const { write, all } = collector()
  const printer = jsonPrinter(write)
  printer.begin(step, { number: 3, of: 9 })
  printer.fact('Code', 'SBX-1')
  printer.note('waiting')
  printer.block('a\nb')
  printer.end(step, report)
  printer.fail('refund', 'It\ndid not come.')
  expect(all().split('\n')).toEqual([
    '{"step":"buy_voucher","ok":true,"usdcBefore":"1.00","usdcAfter":"0.50","orderId":"ord_1"}',
    '{"step":"refund","ok":false,"error":"It\\ndid not come."}',
    '',
  ])
})

test('colours are for a terminal without NO_COLOR', () => {
  expect(wantsColours({ isTTY: true }, {})).toBe(true)
  expect(wantsColours({ isTTY: true }, { NO_COLOR: '1' })).toBe(false)
  expect(wantsColours({}, {})).toBe(false)
})

test('a table lines up text on the left and amounts on the right', () => {
  const rows = [
    ['Offer', 'Paid'],
    ['A', '10.00'],
    ['LONG-ONE', '0.50'],
  ]
  expect(table(rows, 1)).toBe('Offer      Paid\nA         10.00\nLONG-ONE   0.50')
})

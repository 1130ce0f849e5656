import { expect, test } from 'vitest'
import { UsageError } from './command-line.ts'
import { commandOf } from './denylist.ts'

const why = ['--reason', ' Sanctioned ']
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
const xmr = '4'.repeat(95)

test.each([
  [['list'], { does: 'list' }],
  [['add', wallet, wallet.toLowerCase(), ...why], [wallet.toLowerCase()]],
  [['add', '+1 (202) 555-0123', ...why], ['+12025550123']],
  [['add', 'Ada@Example.com', ...why], ['ada@example.com']],
  [
    ['add', 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', ...why],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
  ],
  [
    ['add', xmr, '8901410321111851072', ...why],
    [xmr, '8901410321111851072'],
  ],
])('%j is understood', (args, wanted) => {
  const parties = Array.isArray(wanted) && { does: 'add', parties: wanted, reason: 'Sanctioned' }
  expect(commandOf(args)).toEqual(parties || wanted)
})

test.each([
  [[], 'Say what to do'],
  [['show'], '"show" is not known'],
  [['list', wallet], 'list takes nothing else'],
  [['add', ...why], 'add needs a wallet, address or receiver'],
  [['remove', wallet], 'remove needs a reason'],
  [['add', wallet, '--reason', ' '], 'add needs a reason'],
  [['add', '5550123', ...why], '"5550123" is no wallet'],
  [['add', 'Ada Lovelace', ...why], '"Ada Lovelace" is no wallet'],
  [['add', wallet, '--force', ...why], '--force'],
])('%j is refused', (args, message) => {
  expect(() => commandOf(args)).toThrow(UsageError)
  expect(() => commandOf(args)).toThrow(message)
})

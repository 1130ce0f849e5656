import { expect, test } from 'vitest'
import { UsageError } from './act.ts'
import { commandOf } from './denylist.ts'

const why = ['--reason', ' Sanctioned ']
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
const xmr =
  '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A'

test.each([
  [['list'], { does: 'list' }],
  [['add', wallet, wallet.toLowerCase(), ...why], [wallet.toLowerCase()]],
  [['add', '+1 (202) 555-0123', ...why], ['+12025550123']],
  [['add', 'Ada@Example.com', ...why], ['ada@example.com']],
  [
    ['add', 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', ...why],
    ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'],
  ],
  [
    ['add', xmr, '8901410321111851072', ...why],
    [xmr, '8901410321111851072'],
  ],
  [
    ['import', 'sdn.csv', 'sdn_comments.csv', '--shrinks'],
    { does: 'import', files: ['sdn.csv', 'sdn_comments.csv'], list: undefined, mayShrink: true },
  ],
])('%j is understood', (args, wanted) => {
  const listed = { does: 'add', reason: 'Sanctioned', list: undefined }
  expect(commandOf(args)).toEqual(Array.isArray(wanted) ? { ...listed, parties: wanted } : wanted)
})

test.each([
  [[], 'Say what to do'],
  [['show'], '"show" is not known'],
  [['list', wallet], 'list takes nothing else'],
  [['add', ...why], 'add needs a wallet, address or receiver'],
  [['remove', wallet], 'remove needs a reason'],
  [['add', wallet, '--reason', ' '], 'add needs a reason'],
  [['add', '5550123', ...why], '"5550123" is no wallet'],
  [['add', xmr.replace('3', '4'), ...why], 'is mistyped'],
  [['add', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', ...why], 'is mistyped'],
  [['import'], 'import needs a file'],
  [['import', 'a.txt', '--list', 'hand'], 'no file denies'],
  [['import', 'a.txt', '--list', '../a'], 'no name of a list'],
  [['add', wallet, '--shrinks', ...why], '--shrinks is not for add'],
  [['add', 'Ada Lovelace', ...why], '"Ada Lovelace" is no wallet'],
  [['add', wallet, '--force', ...why], '--force'],
])('%j is refused', (args, message) => {
  expect(() => commandOf(args)).toThrow(UsageError)
  expect(() => commandOf(args)).toThrow(message)
})

import { describeProcessor } from '../contract/processor.ts'
import { memoryProcessor } from './memory-processor.ts'

describeProcessor('in memory', async () => {
  const notes = new Map<string, string>()
  const processor = memoryProcessor({ hands: { find: async (name) => notes.get(name) } })
  let addresses = 0
  return {
    processor,
    pay: (invoice, units, how) => void processor.pay(invoice, units, how),
    confirm: processor.confirm,
    expire: processor.expire,
    loseNext: (call) => processor.failNext(call, { fault: 'lost' }),
    dropNext: (call) => processor.failNext(call, { fault: 'unreached' }),
    invoicesOf: (checkout) => processor.invoicesOf(checkout).length,
    restore: processor.restore,
    paidTo: processor.sentTo,
    noteHand: (reference, transaction) => void notes.set(reference, transaction),
    addressOf: (coin) => {
      addresses += 1
      return `${coin}-address-${addresses}`
    },
    close: () => undefined,
  }
})

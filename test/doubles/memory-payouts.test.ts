import { describePayoutRecord } from '../contract/payout-record.ts'
import { memoryPayouts } from './memory-payouts.ts'

describePayoutRecord('in memory', () => {
  let at = Date.now()
  const record = memoryPayouts(() => new Date(at))
  return {
    record,
    other: record,
    pass: (ms) => {
      at += ms
    },
  }
})

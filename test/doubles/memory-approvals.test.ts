import { describeApprovals } from '../contract/approvals.ts'
import { memoryApprovals } from './memory-approvals.ts'

describeApprovals('memory', async () => {
  const store = memoryApprovals()
  return { store, other: store, close: async () => {} }
})

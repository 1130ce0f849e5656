import type { Processor } from './ports.ts'

const reason = 'no payment processor is configured'

/** What a store has that takes no coins. Nothing can be opened, and what was opened before waits. */
export const noProcessor: Processor = {
  methods: [],
  sends: () => false,
  open: async () => ({ outcome: 'refused', code: 'no_processor', reason }),
  endOthers: async () => false,
  read: async () => ({ outcome: 'unknown', reason }),
  payOut: async () => ({ outcome: 'pending', reason }),
}

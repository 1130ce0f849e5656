import type { Means } from './verdict.ts'

/** A look that went through and saw nothing, which bounds nothing. */
export const unseen: Means = {
  cover: undefined,
  gas: undefined,
  funds: undefined,
  refundMost: undefined,
  cheapest: undefined,
}

import type { ReadDeps } from '../../api/operation.ts'
import type { Texts } from '../texts/texts.ts'

export interface WebDeps extends Omit<ReadDeps, 'network'> {
  readonly networkName: string
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
  readonly isSandbox: boolean
  readonly t: Texts
}

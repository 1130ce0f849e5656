import type { ReadDeps } from '../../api/deps.ts'
import type { Texts } from '../texts/texts.ts'

/** What pages are made of, besides what the whole reading side shares. */
export interface WebDeps extends ReadDeps {
  /** The name of the chain that is paid on, as people know it. */
  readonly networkName: string
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
  /** Whether all money and goods are for trying only. */
  readonly isSandbox: boolean
  /** The messages in the language of the store. */
  readonly t: Texts
}

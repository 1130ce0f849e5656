import type { ReadDeps } from '../../api/deps.ts'
import type { Texts } from '../texts/texts.ts'

/** The dependencies of pages, besides those of everything that only reads. */
export interface WebDeps extends ReadDeps {
  /** The name of the payment network, as people know it. */
  readonly networkName: string
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
  /** Whether all money and goods are test money and test goods. */
  readonly isSandbox: boolean
  /** The messages in the language of the store. */
  readonly t: Texts
}

import type * as z from 'zod'
import type { Manifest, SandboxInfo } from './answers.ts'
import type { Buyer } from './buyer.ts'
import type { CoinPayment, Purchase } from './ledger.ts'
import type { StepTitle, Teller } from './print.ts'
import type { Store } from './store.ts'

/** The dependencies of a step. */
export interface Demo {
  readonly store: Store
  readonly manifest: z.infer<typeof Manifest>
  readonly sandbox: SandboxInfo
  readonly buyer: Buyer
  readonly tell: Teller
  readonly wait: (seconds: number) => Promise<void>
}

/** What happened in the earlier steps; amounts in atomic USDC. */
export interface Story {
  /** The balance of the wallet before the first purchase. */
  readonly start: bigint
  readonly purchases: readonly Purchase[]
  readonly coinPayments: readonly CoinPayment[]
}

export interface Outcome {
  /** The change of the wallet's balance in this step; it is checked on the chain. */
  readonly change: bigint
  readonly data: Readonly<Record<string, unknown>>
  readonly purchase?: Purchase
  readonly coinPayments?: readonly CoinPayment[]
}

export interface Step extends StepTitle {
  run(demo: Demo, story: Story): Promise<Outcome>
}

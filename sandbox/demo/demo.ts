import type * as z from 'zod'
import type { Manifest, SandboxInfo } from './answers.ts'
import type { Buyer } from './buyer.ts'
import type { CoinPayment, Purchase } from './ledger.ts'
import type { StepTitle, Teller } from './print.ts'
import type { Store } from './store.ts'

/** Everything that a step works with. */
export interface Demo {
  readonly store: Store
  readonly manifest: z.infer<typeof Manifest>
  readonly sandbox: SandboxInfo
  readonly buyer: Buyer
  readonly tell: Teller
  readonly wait: (seconds: number) => Promise<void>
}

/** What happened in the steps before; amounts in atomic USDC. */
export interface Story {
  /** What the wallet held when the first purchase began. */
  readonly start: bigint
  readonly purchases: readonly Purchase[]
  readonly coinPayments: readonly CoinPayment[]
}

export interface Outcome {
  /** By how much the wallet's balance must have changed; the chain is asked. */
  readonly change: bigint
  readonly data: Readonly<Record<string, unknown>>
  readonly purchase?: Purchase
  readonly coinPayments?: readonly CoinPayment[]
}

export interface Step extends StepTitle {
  run(demo: Demo, story: Story): Promise<Outcome>
}

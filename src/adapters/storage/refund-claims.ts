import type { BudgetRules, Whose } from '../../orders/budgets.ts'
import type { Order } from '../../orders/order.ts'
import type { ClaimUse, KeptClaim } from '../../orders/ports.ts'
import { type Database, prepared } from './database.ts'
import { budgetsJson } from './spent-budgets.ts'

type Row =
  | { readonly use: 'fresh' | 'used' | 'other_body' }
  | { readonly use: 'spent'; readonly whose: Whose; readonly wait_seconds: number }

const keepStatement = prepared(
  'keep_refund_claim',
  'select use, whose, wait_seconds from keep_refund_claim($1, $2, $3, $4, $5, $6::jsonb)',
)

/** The database function decides everything (002-ledger.sql). */
export async function claimRefund(
  database: Database,
  { id, version }: Pick<Order, 'id' | 'version'>,
  { key, bodyHash, client }: KeptClaim,
  rules: BudgetRules,
): Promise<ClaimUse> {
  const values = [id, version, key, bodyHash, client ?? null, budgetsJson(rules)]
  const { rows } = await database.query<Row>(keepStatement(values))
  const row = rows[0]
  if (!row) throw new Error('The database gave no answer for the refund claim')
  if (row.use !== 'spent') return row.use
  return { budget: 'refund_claims', whose: row.whose, retryAfterSeconds: row.wait_seconds }
}

import type { Usdc } from '../../lib/money.ts'
import {
  type BudgetRules,
  budgetWindowMs,
  type Risk,
  type Spent,
  type Subjects,
} from '../../orders/budgets.ts'
import type { Order } from '../../orders/order.ts'
import { BudgetSpent, type ClaimUse, type Counted, type KeptClaim } from '../../orders/ports.ts'
import { type Database, prepared, raised, refusedWith } from './database.ts'

interface Row {
  readonly budget: Spent['budget']
  readonly whose: Spent['whose']
  readonly wait_seconds: number
}

/** Skips the share of the float if a budget is exhausted, or if no float is given. */
const spentStatement = prepared(
  'spent_budget',
  `with spent as materialized (
    select budget, whose, wait_seconds from spent_budget($1::jsonb, $2, $3, $4, $5)
  )
  select * from spent
  union all
  select budget, whose, wait_seconds from exceeded_share($6, $2, $3, $7)
    where $6::numeric is not null and may_exceed_a_share($6, $7) and not exists (select from spent)`,
)

/** The check of the budgets before an order is opened. */
interface BudgetQuery {
  readonly subjects: Subjects
  readonly rules: BudgetRules
  readonly now: Date
  readonly risk: Risk | undefined
}

export async function spentBudget(
  database: Database,
  { subjects, rules, now, risk }: BudgetQuery,
): Promise<Spent | undefined> {
  const [payer, client] = [subjects.payer.toLowerCase(), subjects.client ?? null]
  const whose = [budgetsJson(rules), payer, client, subjects.receiver ?? null, now]
  const shares = risk ? [risk.float.toString(), risk.amount.toString()] : [null, null]
  const { rows } = await database.query<Row>(spentStatement([...whose, ...shares]))
  return rows[0] && spentOf(rows[0])
}

/** The values of a new order for the triggers that check the budgets: client, receiver and rules. */
export function budgetValues(counted: Counted | undefined): readonly (string | null)[] {
  if (!counted) return [null, null, null]
  const { client, receiver } = counted.subjects
  const { rules, float } = counted
  return [client ?? null, receiver ?? null, rules ? budgetsJson(rules, float) : null]
}

/** The exhausted budget for which the tables refused an order; undefined for any other error. */
export function budgetSpentIn(error: unknown): BudgetSpent | undefined {
  const refused = refusedWith(error, raised.budgetSpent)
  return refused && new BudgetSpent(spentOf(JSON.parse(refused.detail ?? '{}') as Row))
}

const claimStatement = prepared(
  'keep_refund_claim',
  'select use, whose, wait_seconds from keep_refund_claim($1, $2, $3, $4, $5, $6::jsonb)',
)

/** Keeps a claim for a refund, if the order and the client have budget left for it. */
export async function claimRefund(
  database: Database,
  { id, version }: Pick<Order, 'id' | 'version'>,
  { key, bodyHash, client }: KeptClaim,
  rules: BudgetRules,
): Promise<ClaimUse> {
  type Use =
    | { readonly use: 'fresh' | 'used' | 'other_body' }
    | ({ readonly use: 'spent' } & Omit<Row, 'budget'>)
  const values = [id, version, key, bodyHash, client ?? null, budgetsJson(rules)]
  const { rows } = await database.query<Use>(claimStatement(values))
  const row = rows[0]
  if (!row) throw new Error('The database gave no answer for the refund claim')
  return row.use === 'spent' ? spentOf({ ...row, budget: 'refund_claims' }) : row.use
}

function budgetsJson(most: BudgetRules, float?: Usdc): string {
  const held = float === undefined ? {} : { float: float.toString() }
  return JSON.stringify({ most, windowMs: budgetWindowMs, ...held })
}

function spentOf({ budget, whose, wait_seconds }: Row): Spent {
  return { budget, whose, retryAfterSeconds: wait_seconds }
}

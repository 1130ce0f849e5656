import {
  type BudgetRules,
  budgetWindowMs,
  type ExposureRules,
  type Spent,
  type Subjects,
} from '../../orders/budgets.ts'
import { BudgetSpent, type Counted } from '../../orders/ports.ts'
import { type Database, isRefused, prepared } from './database.ts'

interface Row {
  readonly budget: Spent['budget']
  readonly whose: Spent['whose']
  readonly wait_seconds: number
}

const spentStatement = prepared(
  'spent_budget',
  'select budget, whose, wait_seconds from spent_budget($1::jsonb, $2, $3, $4, $5)',
)

export async function spentBudget(
  database: Database,
  { payer, client, receiver }: Subjects,
  rules: BudgetRules,
  now: Date,
): Promise<Spent | undefined> {
  const values = [budgetsJson(rules), payer.toLowerCase(), client ?? null, receiver ?? null, now]
  const { rows } = await database.query<Row>(spentStatement(values))
  return rows[0] && spentOf(rows[0])
}

/** What a new order tells the trigger that looks at the budgets (020-spent-budgets.sql, 035-exposure-of-one.sql). */
export function budgetValues(counted: Counted | undefined): readonly (string | null)[] {
  if (!counted) return [null, null, null]
  const { client, receiver } = counted.subjects
  const { rules, exposure } = counted
  return [client ?? null, receiver ?? null, rules ? budgetsJson(rules, exposure) : null]
}

/** The spent budget that the trigger has refused an order for, or undefined for any other error. */
export function budgetSpentIn(error: unknown): BudgetSpent | undefined {
  if (!isRefused(error) || error.constraint !== 'budget_spent') return undefined
  return new BudgetSpent(spentOf(JSON.parse(error.detail ?? '{}') as Row))
}

export function budgetsJson(most: BudgetRules, exposure?: ExposureRules): string {
  const value = exposure && {
    payer: exposure.payer.toString(),
    client: exposure.client.toString(),
  }
  return JSON.stringify({ most, windowMs: budgetWindowMs, ...(value ? { exposure: value } : {}) })
}

function spentOf({ budget, whose, wait_seconds }: Row): Spent {
  return { budget, whose, retryAfterSeconds: wait_seconds }
}

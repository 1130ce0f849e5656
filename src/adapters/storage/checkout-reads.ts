import type { Checkout } from '../../checkouts/checkout.ts'
import type { Coin } from '../../payments/coins.ts'
import { checkoutColumns, checkoutOf, type StoredCheckout } from './checkout-row.ts'
import { type Database, prepared } from './database.ts'

const by = (condition: string) => `select ${checkoutColumns} from checkouts where ${condition}`

const readStatements = {
  id: prepared('checkout_by_id', by('id = $1')),
  order: prepared('checkout_by_order', by('order_id = $1')),
  formKey: prepared('checkout_by_form', by(`form_key = $1 and state <> 'REFUSED'`)),
  /** A transaction may pay several checkouts. Finds the first one. */
  transaction: prepared(
    'checkout_by_transaction',
    by('transactions @> array[lower($1)] order by started_at, id limit 1'),
  ),
  /** Written like its index. An address may have had several checkouts, one after the other. */
  address: prepared(
    'checkout_by_address',
    by(`lower(doc #>> '{invoice,address}') = lower($1) limit 1`),
  ),
} as const

export async function readCheckoutBy(
  database: Database,
  key: keyof typeof readStatements,
  value: string,
): Promise<StoredCheckout | undefined> {
  const { rows } = await database.query<StoredCheckout>(readStatements[key]([value]))
  return rows[0]
}

export async function findCheckoutBy(
  database: Database,
  key: Exclude<keyof typeof readStatements, 'formKey'>,
  value: string,
): Promise<Checkout | undefined> {
  const stored = await readCheckoutBy(database, key, value)
  return stored && checkoutOf(stored)
}

const holderStatement = prepared('checkout_holder', by('coin = $1 and held_address = lower($2)'))

/** The checkout for which this address was shown, while it is not closed. */
export async function findHolder(
  database: Database,
  coin: Coin,
  address: string,
): Promise<Checkout | undefined> {
  const { rows } = await database.query<StoredCheckout>(holderStatement([coin, address]))
  return rows[0] && checkoutOf(rows[0])
}

import { type Kind, kinds } from '../../src/catalog/offer.ts'
import { type SupplierManner, suppliers } from '../model/suppliers.ts'
import { type Outcome, outcomes, type Point } from './faults.ts'
import { type PaymentManner, payments, type RefundManner, refunds } from './sending.ts'

/** Whether and how the client repeats its request, with or without an answer to the first. */
type Repeat = 'never' | 'same-payment' | 'same-key' | 'key-with-new-payment'

/** One purchase in one world. */
export interface Case {
  readonly kind: Kind
  readonly supplier: SupplierManner
  readonly payment: PaymentManner
  readonly refund: RefundManner
  readonly repeat: Repeat
}

const plain: Case = {
  kind: 'voucher',
  supplier: 'at-once',
  payment: 'pays',
  refund: 'prompt',
  repeat: 'never',
}
const supplierManners = Object.keys(suppliers) as readonly SupplierManner[]

const fewSuppliers = ['at-once', 'declines', 'delivers-after-expiry', 'keeps-returned'] as const
const fewPayments = ['lands-slowly', 'cancelled', 'never-lands'] as const

/** The cases: every manner of every party, and the combinations that can interact. */
export const cases: readonly Case[] = [
  ...(['never', 'same-key'] as const).flatMap((repeat) =>
    supplierManners.map((supplier) => ({ ...plain, repeat, supplier })),
  ),
  ...payments.slice(1).map((payment) => ({ ...plain, repeat: 'same-key', payment }) as const),
  ...(['same-payment', 'key-with-new-payment'] as const).flatMap((repeat) => [
    ...fewSuppliers.map((supplier) => ({ ...plain, repeat, supplier })),
    ...fewPayments.map((payment) => ({ ...plain, repeat, payment })),
  ]),
  ...refunds
    .slice(1)
    .map((refund) => ({ ...plain, supplier: 'declines', refund, repeat: 'same-key' }) as const),
  ...kinds.slice(1).flatMap((kind) =>
    fewSuppliers.map((supplier) => ({
      ...plain,
      kind,
      supplier,
      repeat: 'same-key' as const,
    })),
  ),
]

function nameOf({ kind, supplier, payment, refund, repeat }: Case): string {
  return [kind, supplier, payment, refund, repeat].join('/')
}

/** One line that reproduces the run. */
export function keyOf(scene: Case, points: readonly Point[]): string {
  const ks = points.map(({ k }) => k).join('+')
  return `case=${nameOf(scene)} k=${ks} outcome=${points.map(({ outcome }) => outcome).join('+')}`
}

/** Parses such a line; anything after it is ignored. */
export function ofKey(key: string): { readonly scene: Case; readonly points: readonly Point[] } {
  const [, name, ks = '', named = ''] = /^case=(\S+) k=(\S*) outcome=(\S*)/.exec(key) ?? []
  const scene = cases.find((candidate) => nameOf(candidate) === name)
  if (!scene) throw new Error(`There is no such case: ${key}`)
  const faults = named.split('+')
  const points = ks.split('+').flatMap((k, index) => {
    return k === '' ? [] : [{ k: Number(k), outcome: outcomeOf(faults[index]) }]
  })
  return { scene, points }
}

function outcomeOf(text: string | undefined): Outcome {
  const outcome = outcomes.find((candidate) => candidate === text)
  if (!outcome) throw new Error(`There is no such outcome: ${text}`)
  return outcome
}

import { randomUUID } from 'node:crypto'
import { wordingOf } from '../catalog/purchase-body.ts'
import { approvalTokenOf } from '../lib/ids.ts'
import { formatUsdc, type Usdc } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import type { X402Payment } from '../payments/payment.ts'
import { type Digest, hashOf, type Vault } from '../secrets/secrets.ts'
import { idsFor } from './order.ts'
import type { Approval, ApprovalStore } from './ports.ts'
import type { Priced } from './price.ts'
import type { PurchaseRequest } from './replay.ts'
import { money } from './spending-limits/rules.ts'

/** How long a person has to decide, and then how long the approved purchase can be made; milliseconds. */
export const approvalMs = 15 * 60_000

export interface ApprovalDeps {
  readonly approvals: ApprovalStore
  readonly vault: Vault
  readonly digest: Digest
  readonly now: () => Date
  readonly approvalWords: {
    readonly urlOf: (token: string) => string
    readonly inWords: (priced: Priced) => string
  }
}
interface Asked {
  readonly request: PurchaseRequest
  readonly priced: Priced
  readonly payment: X402Payment
  /** The amount above which a person must approve; undefined: none. */
  readonly above: Usdc | undefined
}

/**
 * Uses an approval, which is good for one payment; the same payment may come again.
 *
 * @throws Refusal `approval_required` with the page where a person approves, `approval_declined`
 */
export async function requireApproval(deps: ApprovalDeps, asked: Asked): Promise<void> {
  const { request, priced, payment, above } = asked
  const { amount, lineItem, offer } = priced
  if (above === undefined || amount <= above) return
  const wording = wordingOf(offer.kind, request.fields)
  const payer = payment.payer.toLowerCase()
  const purchase = { payer, purchase: deps.digest.of(wording), amount }
  const now = deps.now()
  if (await deps.approvals.use(purchase, idsFor(deps.digest, payment).id, now)) return
  const id = randomUUID()
  const approval = await deps.approvals.ask(
    {
      ...purchase,
      id,
      tokenHash: hashOf(approvalTokenOf(deps.digest.of(wordedAs(id)))),
      most: lineItem.most ?? amount,
      bought: deps.vault.seal(deps.approvalWords.inWords(priced), { order: id, field: 'approval' }),
      endsAt: new Date(now.getTime() + approvalMs),
    },
    now,
  )
  throw approval.decision === 'DECLINED' ? declined(approval) : required(deps, approval, above)
}

function required(deps: ApprovalDeps, approval: Approval, above: Usdc): Refusal {
  const approvalUrl = deps.approvalWords.urlOf(tokenOf(deps.digest, approval))
  const message = `A person must approve this purchase first. Show them this page, and do not open it yourself: ${approvalUrl} Send the same request again once they have approved. It costs ${formatUsdc(approval.amount)} USDC, and what costs more than ${formatUsdc(above)} USDC needs an approval. Nothing is charged`
  return new Refusal('approval_required', `${message}.`, {
    charged: 'no',
    extra: {
      approvalUrl,
      expiresAt: approval.endsAt.toISOString(),
      allows: money(above),
      asked: money(approval.amount),
    },
  })
}

function declined({ endsAt }: Approval): Refusal {
  const message =
    'A person has declined this purchase. Do not buy it in another way: ask them what they want instead.'
  return new Refusal('approval_declined', message, {
    charged: 'no',
    extra: { until: endsAt.toISOString() },
  })
}

const wordedAs = (id: string) => `approval:${id}`

/** The token of a stored approval, whichever key of the store derived it. */
function tokenOf({ every }: Digest, { id, tokenHash }: Approval): string {
  const token = every(wordedAs(id))
    .map(approvalTokenOf)
    .find((one) => hashOf(one) === tokenHash)
  if (token === undefined) throw new Error(`The key that the approval ${id} was made with is gone`)
  return token
}

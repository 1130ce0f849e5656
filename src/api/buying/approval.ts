import { fieldsInWording } from '../../catalog/purchase-body.ts'
import type { PurchaseDeps } from '../../orders/purchase.ts'
import { type ApprovedText, approvalMs } from '../../orders/spending-limits/rules.ts'
import { hashOf } from '../../secrets/secrets.ts'
import type { Site } from '../operation.ts'
import { purchaseSentence } from './payment-required.ts'

export const approvePath = '/approve'

export function approvalWords({ url }: Pick<Site, 'url'>): PurchaseDeps['approvalWords'] {
  return {
    // Browsers do not send what is after the `#`, so no server or proxy logs it.
    urlOf: (token) => `${url}${approvePath}#${token}`,
    inWords: ({ offer, lineItem, amount }) => purchaseSentence(offer, lineItem, amount),
  }
}

export type ShownApproval =
  | { readonly type: 'approved' | 'declined' | 'used' | 'ended' | 'unknown' }
  | {
      readonly type: 'asked'
      readonly summary: string
      /** Every field that the approval is bound to. */
      readonly fields: ReturnType<typeof fieldsInWording>
      /** The maximum price, in atomic USDC. */
      readonly most: bigint
      readonly payer: string
      readonly endsAt: Date
    }

type Deps = Pick<PurchaseDeps, 'approvals' | 'vault' | 'now'>

export async function showApproval(deps: Deps, token: string): Promise<ShownApproval> {
  const approval = await deps.approvals.find(hashOf(token))
  if (approval === undefined) return { type: 'unknown' }
  if (approval.usedBy !== null) return { type: 'used' }
  if (approval.decision === 'DECLINED') return { type: 'declined' }
  if (approval.endsAt <= deps.now()) return { type: 'ended' }
  if (approval.decision === 'APPROVED') return { type: 'approved' }
  const { id, most, payer, endsAt } = approval
  const shown = deps.vault.open(approval.bought, { order: id, field: 'approval' }) as ApprovedText
  const { summary, wording } = shown
  return { type: 'asked', summary, fields: fieldsInWording(wording), most, payer, endsAt }
}

export async function decideApproval(
  deps: Deps,
  token: string,
  decision: 'APPROVED' | 'DECLINED',
): Promise<void> {
  const now = deps.now()
  const endsAt = new Date(now.getTime() + approvalMs)
  await deps.approvals.decide(hashOf(token), { decision, now, endsAt })
}

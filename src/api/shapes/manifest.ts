import * as z from 'zod'

/** The published shape of the manifest (x402-signals v0.2, sections 4 and 5). */

const policyType = z.looseObject({ type: z.string() })

const Signals = z
  .object({
    provider_health: z.enum(['healthy', 'degraded', 'down']),
    agent_action: z.enum(['pay', 'retry_later', 'stop']),
    last_updated: z.iso.datetime(),
  })
  .meta({ id: 'Signals' })

const FulfillmentPolicy = z
  .object({
    version: z.string(),
    mode: z.string(),
    fulfillment_deadline_seconds: z.int(),
    status_endpoint: z.string(),
    retry_after_seconds: z.int(),
  })
  .meta({ id: 'FulfillmentPolicy' })

/** The refund policy of one kind; the manifest's has the policies of all kinds besides. */
const refundPolicy = {
  version: z.string(),
  mode: z.string(),
  type: z.string(),
  triggers: z.array(z.string()),
  refund_to: z.string(),
  refund_endpoint: z.string(),
  refund_deadline_seconds: z.int(),
  refund_claim_deadline_seconds: z.int().nullable(),
  partial_refunds_supported: z.boolean(),
  idempotency_required: z.boolean(),
  compensating_actions_optional: z.boolean(),
  refund_policy_by_state: z.record(z.string(), policyType),
}

/** What stands beside a price (x402-signals 5.1). */
export const SignalsBlock = z
  .object({
    fulfillment_policy: FulfillmentPolicy,
    refund_policy: z.object(refundPolicy),
    signals: Signals,
  })
  .meta({ id: 'SignalsBlock' })

export const ManifestAnswer = z
  .object({
    x402Version: z.literal(2),
    version: z.literal(1),
    name: z.string(),
    description: z.string(),
    url: z.url(),
    logo: z.url(),
    contact: z.string(),
    extensions: z.object({
      bazaar: z.object({
        name: z.string(),
        description: z.string(),
        logo_url: z.url(),
        category: z.string(),
        provider_url: z.url(),
      }),
    }),
    fulfillment_policy: FulfillmentPolicy,
    refund_policy: z.object({
      ...refundPolicy,
      refund_policy_by_product: z.record(z.string(), policyType),
    }),
    signals: Signals,
    resources: z.array(
      z.object({
        url: z.string(),
        method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
        name: z.string(),
        description: z.string(),
        inputSchema: z.looseObject({ type: z.literal('object') }),
        requiredHeaders: z.array(z.string()).optional().describe('Without them it is refused'),
      }),
    ),
  })
  .meta({ id: 'Manifest' })

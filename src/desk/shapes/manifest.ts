import * as z from 'zod'

/** The published manifest (service.md, Resources; x402-signals 4 and 5). */

const policyType = z.looseObject({ type: z.string() })

const Signals = z
  .object({
    provider_health: z.enum(['healthy', 'degraded', 'down']),
    agent_action: z.enum(['pay', 'retry_later', 'stop']),
    last_updated: z.iso.datetime(),
  })
  .meta({ id: 'Signals' })

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
    fulfillment_policy: z.object({
      version: z.string(),
      mode: z.string(),
      fulfillment_deadline_seconds: z.int(),
      status_endpoint: z.string(),
      retry_after_seconds: z.int(),
    }),
    refund_policy: z.object({
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
      refund_policy_by_product: z.record(z.string(), policyType),
    }),
    signals: Signals,
    resources: z.array(
      z.object({
        url: z.string(),
        name: z.string(),
        description: z.string(),
        inputSchema: z.looseObject({ type: z.literal('object') }),
      }),
    ),
  })
  .meta({ id: 'Manifest' })

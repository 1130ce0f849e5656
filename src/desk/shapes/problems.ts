import * as z from 'zod'

/** The published shapes of errors (decisions 2 and 3). */

const allowed = z.array(z.string()).describe('The values that would have been taken')
const didYouMean = z.union([z.string(), z.number()]).describe('What was probably meant')

/** The error body of the discovery interface. */
export const DiscoveryError = z
  .object({
    error: z.string().describe('What is wrong, in a sentence'),
    parameter: z.string().optional(),
    allowed: allowed.optional(),
    didYouMean: didYouMean.optional(),
    retryAfterSeconds: z.int().min(1).optional(),
  })
  .meta({ id: 'DiscoveryError' })

/** The error body of everything else: an RFC 9457 problem document. */
export const Problem = z
  .looseObject({
    type: z.url().describe('The page about this code'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong here, in a sentence'),
    code: z.string().describe('Stable; what to program against'),
    parameter: z.string().optional().describe('The one parameter at fault'),
    allowed: allowed.optional(),
    didYouMean: didYouMean.optional(),
    errors: z
      .array(z.looseObject({ parameter: z.string(), message: z.string() }))
      .optional()
      .describe('Every fault of a body'),
    retryAfterSeconds: z.int().min(1).optional(),
    requestId: z.string().describe('Name it when you ask the operator'),
    retryable: z.boolean().describe('Whether the very same request may succeed later'),
    charged: z.enum(['no', 'yes', 'unknown']).optional().describe('Whether money moved'),
  })
  .meta({ id: 'Problem' })

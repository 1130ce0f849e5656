import type {
  CallToolResult,
  InputRequiredResult,
  ToolAnnotations,
} from '@modelcontextprotocol/server'
import type { PaymentRequired } from '@x402/core/types'
import type { BuyingDeps, ProofLimit, ReadDeps } from '../api/operation.ts'
import { problem } from '../api/refusals.ts'
import { isNotAccepted, type LimitName } from '../http/gate.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { type Charged, Refusal, rules } from '../lib/refusal.ts'
import { notReadable } from '../orders/price.ts'
import {
  bringsPayment,
  carriesProof,
  type JsonObject,
  type ToolCall,
  withoutNulls,
} from './arguments.ts'
import {
  type Destination,
  type HostSettings,
  type Person,
  visitError,
  visitResult,
} from './host.ts'

export interface Visit extends ProofLimit {
  readonly requestId: string
  readonly client: string
  readonly log: Parameters<typeof notReadable>[0]
  readonly host: HostSettings
  /** The refusal of the limit that the request exceeded before its body was read. */
  readonly heldUp: Refusal | undefined
  /** Called with the order that the call bought, found or named. */
  readonly noteOrder: (order: OrderId) => void
  /** Counts the call against a limit; returns the refusal if it exceeds it. */
  readonly count: (limit: LimitName) => Promise<Refusal | undefined>
}

/**
 * Answers one call of a tool. A refusal is an answer too; only our own defects are logged.
 *
 * @throws UrlElicitationRequiredError to bring a person to a page, for clients that support this error
 */
export async function answerCall(
  deps: ToolDeps,
  visit: Visit,
  tool: Tool,
  { args, ...raw }: Pick<ToolCall, 'args' | 'meta' | 'person'>,
): Promise<CallToolResult | InputRequiredResult> {
  const { client, host } = visit
  const call = { ...raw, args: withoutNulls(args), client, host, proofs: visit }
  nameOrder(visit, call.args)
  const { result, isAccepted } = await runTool(deps, visit, tool, call)
  if (!isAccepted && carriesProof(call)) await visit.provedNothing()
  return result
}

async function runTool(deps: ToolDeps, visit: Visit, tool: Tool, call: Counted) {
  try {
    const heldUp = await holdUp(visit, tool, call)
    const outcome = await tool.run({ ...call, heldUp }, deps)
    if (outcome.type === 'answer') nameOrder(visit, outcome.body)
    const page = outcome.type === 'answer' ? outcome.visit : undefined
    const result = page ? visitResult(page) : resultOf(outcome)
    return { result, isAccepted: outcome.type === 'answer' && !outcome.provesNothing }
  } catch (error) {
    return errorResult(deps, visit, tool, call, error)
  }
}

function nameOrder({ noteOrder }: Visit, from: object): void {
  if ('orderId' in from && typeof from.orderId === 'string' && isOrderId(from.orderId)) {
    noteOrder(from.orderId)
  }
}

function errorResult(deps: ToolDeps, visit: Visit, tool: Tool, call: Counted, error: unknown) {
  const refusal = refusalFor(error, visit, tool)
  if (refusal === undefined) visit.log.error({ err: error }, 'unexpected error')
  const approvalPrompt =
    refusal?.code === 'approval_required' ? promptForApproval(call.person, refusal) : undefined
  if (approvalPrompt) return { result: approvalPrompt, isAccepted: true }
  const charged: Charged = bringsPayment(call) ? 'unknown' : 'no'
  const context = {
    siteUrl: deps.reading.site.url,
    requestId: visit.requestId,
    charged: tool.charges ? charged : undefined,
  }
  const isAccepted =
    refusal === undefined ||
    !(refusal.details.provesNothing || isNotAccepted(rules[refusal.code].status))
  const body = problem(refusal, context)
  return { result: errorOf(body, sentenceOf(body)), isAccepted }
}

function refusalFor(error: unknown, { log }: Visit, { readsOrders, charges }: Tool) {
  if (readsOrders) return notReadable(log, error, charges ? 'unknown' : undefined)
  return error instanceof Refusal ? error : undefined
}

/** Brings a person to the page of their approval; undefined if the model must show them the link. */
function promptForApproval({ reached, isBack }: Person, { details }: Refusal) {
  const url = String(details.extra?.['approvalUrl'])
  const page = { url, message: 'Approve or decline this purchase on a page of the store.' }
  // A person who has not decided still has the page open: asking again at once would loop for ever.
  if (reached === undefined || isBack) return undefined
  if (reached === 'by_error') throw visitError(page)
  return visitResult(page)
}

type Counted = Omit<ToolCall, 'heldUp'>

/**
 * The refusal of the limit that a call exceeds, if the call may still find the order that it has already paid for.
 * Looking for an order costs as much as reading one, and the request itself has already counted as reading.
 *
 * @throws Refusal `rate_limited` for any other call above a limit
 */
async function holdUp(visit: Visit, tool: Tool, call: Counted): Promise<Refusal | undefined> {
  const limit = typeof tool.limit === 'string' ? tool.limit : tool.limit(call.args)
  const above =
    visit.heldUp ??
    (await visit.count(limit)) ??
    (carriesProof(call) ? await visit.mayProve() : undefined)
  if (above && !(tool.findsOrders && bringsPayment(call))) throw above
  return above
}

/** A demand comes with its message first, because some clients show a model only the beginning. */
function resultOf(outcome: ToolOutcome): CallToolResult {
  if (outcome.type === 'demand') {
    const body = { ...outcome.more, ...outcome.required }
    return errorOf(body, JSON.stringify(body))
  }
  const { body, advice, picture, meta } = outcome
  return {
    structuredContent: dataOf(body),
    content: [
      { type: 'text', text: JSON.stringify(body) },
      ...(advice === undefined ? [] : [{ type: 'text' as const, text: advice }]),
      ...(picture === undefined
        ? []
        : [{ type: 'image' as const, data: picture, mimeType: 'image/png' }]),
    ],
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  }
}

function errorOf(body: object, text: string): CallToolResult {
  return { isError: true, structuredContent: dataOf(body), content: [{ type: 'text', text }] }
}

function sentenceOf({
  detail,
  code,
  didYouMean,
  charged,
  retryAfterSeconds,
}: Readonly<Record<string, unknown>>): string {
  const facts = [
    `code ${String(code)}`,
    ...(didYouMean === undefined ? [] : [`probably meant: ${String(didYouMean)}`]),
    ...(charged === undefined ? [] : [`charged: ${String(charged)}`]),
    ...(retryAfterSeconds === undefined ? [] : [`again in ${String(retryAfterSeconds)} seconds`]),
  ]
  return `${String(detail)} (${facts.join('; ')})`
}

function dataOf(body: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(body))
}

export interface Tool {
  readonly name: string
  readonly title: string
  /** Everything that a model new to the store must know before it calls. */
  readonly description: string
  /** JSON Schema of the arguments. The API validates them; this only describes them. */
  readonly inputSchema: JsonObject
  readonly annotations: ToolAnnotations
  readonly app: 'offers' | 'price' | 'order'
  /** The rate limit of a call: that of the same call over HTTP, which the arguments may decide. */
  readonly limit: LimitName | ((args: ToolCall['args']) => LimitName)
  readonly charges: boolean
  /** Whether any error of ours says that orders cannot be read just now. */
  readonly readsOrders?: true
  /** Whether a call with a payment above a limit is still admitted to find the order of that payment. */
  readonly findsOrders?: true
  readonly run: (call: ToolCall, deps: ToolDeps) => ToolOutcome | Promise<ToolOutcome>
}

export interface ToolDeps {
  readonly reading: ReadDeps
  readonly buying: BuyingDeps
}

/** The outcome of a tool: an answer, or a demand (payment or sign-in) that must be met first. */
export type ToolOutcome =
  | {
      readonly type: 'answer'
      /** As published; a field that is undefined is absent. */
      readonly body: object
      readonly advice?: string
      /** A PNG to show, in base64. */
      readonly picture?: string | undefined
      readonly meta?: Readonly<Record<string, unknown>>
      /** Whether the payment in the call counts as refused, because nothing shows that it is the caller's. */
      readonly provesNothing?: true
      readonly visit?: Destination | undefined
    }
  | { readonly type: 'demand'; readonly required: PaymentRequired; readonly more: object }

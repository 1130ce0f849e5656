import type { CallToolResult } from '@modelcontextprotocol/server'
import { chargeOf } from '../api/buying/charge.ts'
import type { FaultLog } from '../api/buying/deps.ts'
import { problem, rules } from '../api/refusals.ts'
import { isNotAccepted } from '../http/proof-limit.ts'
import type { LimitName } from '../http/rate-limit.ts'
import { Refusal } from '../lib/refusal.ts'
import { givenIn } from './arguments.ts'
import { bringsPayment, carriesProof } from './proofs.ts'
import { problemResult, resultOf } from './results.ts'
import type { Tool, ToolCall, ToolDeps } from './tool.ts'

/** Whoever calls, as far as the limits and the log know them. */
export interface Visit {
  readonly requestId: string
  /** The address that the call came from, as limits count it. */
  readonly client: string
  readonly log: FaultLog
  /** The limit that the request is above already, before its body was read. */
  readonly heldUp: Refusal | undefined
  /** The refusal of a call above this limit. */
  readonly count: (limit: LimitName) => Promise<Refusal | undefined>
  /** Before a signature is checked: the refusal of who had too many refused. */
  readonly mayProve: () => Promise<Refusal | undefined>
  /** After one was not accepted. */
  readonly provedNothing: () => Promise<void>
}

export interface RawCall {
  readonly args: Readonly<Record<string, unknown>> | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
}

/** Answers one call of a tool. A refusal is an answer too; only a defect of ours is logged. */
export async function answerCall(
  deps: ToolDeps,
  visit: Visit,
  tool: Tool,
  { args, meta = {} }: RawCall,
): Promise<CallToolResult> {
  const charge = chargeOf(bringsPayment({ meta }))
  const call = { args: givenIn(args), meta, log: visit.log, client: visit.client, charge }
  const { result, isAccepted } = await answer(deps, visit, tool, call)
  if ((!isAccepted || charge.showedNothing) && carriesProof(call)) await visit.provedNothing()
  return result
}

/** The answer, and whether a payment or a sign-in that came along would have been accepted. */
async function answer(deps: ToolDeps, visit: Visit, tool: Tool, call: Counted) {
  try {
    const heldUp = await holdUp(visit, tool, call)
    const said = await tool.run({ ...call, heldUp }, deps)
    return { result: resultOf(said), isAccepted: said.type !== 'demand' }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : undefined
    if (refusal === undefined) visit.log.error({ err: error }, 'unexpected error')
    const { url: siteUrl } = deps.reading.site
    const charge = tool.charges ? call.charge : undefined
    const context = { siteUrl, requestId: visit.requestId, charge }
    const isAccepted = refusal === undefined || !isNotAccepted(rules[refusal.code].status)
    return { result: problemResult(problem(refusal, context)), isAccepted }
  }
}

type Counted = Omit<ToolCall, 'heldUp'>

/**
 * The limit that a call is above, where it may still find the order that it has already paid for.
 * Looking for one costs what reading does, and as that the request itself was counted.
 *
 * @throws Refusal `rate_limited` for any other call
 */
async function holdUp(visit: Visit, tool: Tool, call: Counted): Promise<Refusal | undefined> {
  const above =
    visit.heldUp ??
    (await visit.count(tool.limit)) ??
    (carriesProof(call) ? await visit.mayProve() : undefined)
  if (above && !(tool.findsOrders && bringsPayment(call))) throw above
  return above
}

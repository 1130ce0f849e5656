import type { CallToolResult } from '@modelcontextprotocol/server'
import type { FaultLog } from '../desk/buying/deps.ts'
import { problem, rules } from '../desk/refusals.ts'
import { isNotAccepted } from '../http/proof-limit.ts'
import type { LimitName } from '../http/rate-limit.ts'
import { Refusal } from '../primitives/refusal.ts'
import { givenIn } from './arguments.ts'
import { carriesProof } from './proofs.ts'
import { problemResult, resultOf } from './results.ts'
import type { Tool, ToolCall, ToolDeps } from './tool.ts'

/** Whoever calls, as far as the limits and the log know them. */
export interface Visit {
  readonly requestId: string
  readonly log: FaultLog
  /** @throws Refusal `rate_limited` */
  readonly count: (limit: LimitName) => Promise<void>
  /** Before a signature is checked. @throws Refusal `rate_limited` */
  readonly mayProve: () => Promise<void>
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
  const call: ToolCall = { args: givenIn(args), meta, log: visit.log }
  const { result, isAccepted } = await answer(deps, visit, tool, call)
  if (!isAccepted && carriesProof(call)) await visit.provedNothing()
  return result
}

/** The answer, and whether a payment or a sign-in that came along would have been accepted. */
async function answer(deps: ToolDeps, visit: Visit, tool: Tool, call: ToolCall) {
  try {
    await visit.count(tool.limit)
    if (carriesProof(call)) await visit.mayProve()
    const said = await tool.run(call, deps)
    return { result: resultOf(said), isAccepted: said.type !== 'demand' }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : undefined
    if (refusal === undefined) visit.log.error({ err: error }, 'unexpected error')
    const { url: siteUrl } = deps.reading.site
    const context = { siteUrl, requestId: visit.requestId, charges: tool.charges }
    const isAccepted = refusal === undefined || !isNotAccepted(rules[refusal.code].status)
    return { result: problemResult(problem(refusal, context)), isAccepted }
  }
}

import { usdcFromText } from '../../lib/money.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Digest } from '../../secrets/secrets.ts'
import type { LimitStore, Rules, WalletLimits } from '../ports.ts'
import { answerOf, type LimitsAnswer, type LimitsBody } from './body.ts'
import { applyRules, dayMs, digestOf, hasRules, noRules, present } from './rules.ts'

export interface LimitsDeps {
  readonly limits: LimitStore
  readonly digest: Digest
  readonly now: () => Date
  /** How long looser limits wait before they take effect; milliseconds. */
  readonly coolingMs: number
}

/** So many concurrent changes of the same limits happen only on purpose. */
const attempts = 5

export async function showLimits(deps: LimitsDeps, wallet: string): Promise<LimitsAnswer> {
  const stored = await deps.limits.find(wallet)
  return readAnswer(deps, wallet, stored?.limits ?? { inForce: noRules })
}

/** Replaces all limits of the wallet. `changed` says when each takes effect. */
export function setLimits(
  deps: LimitsDeps,
  wallet: string,
  body: LimitsBody,
): Promise<LimitsAnswer> {
  return changeLimits(deps, wallet, (limits) => rulesOf(deps.digest, wallet, body, limits))
}

/** Lifts all limits of the wallet, after the delay for looser ones. */
export function liftLimits(deps: LimitsDeps, wallet: string): Promise<LimitsAnswer> {
  return changeLimits(deps, wallet, () => noRules)
}

async function changeLimits(
  deps: LimitsDeps,
  wallet: string,
  rulesFor: (limits: WalletLimits) => Rules,
): Promise<LimitsAnswer> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const stored = await deps.limits.find(wallet)
    const limits = stored?.limits ?? { inForce: noRules }
    const { coolingMs } = deps
    const newLimits = applyRules(limits, rulesFor(limits), { now: deps.now(), coolingMs })
    const isNothing = !hasRules(newLimits.inForce) && newLimits.coming === undefined
    if (await deps.limits.replace(wallet, stored, isNothing ? undefined : newLimits)) {
      return readAnswer(deps, wallet, newLimits)
    }
  }
  const message =
    'Somebody else is changing these limits at the moment. Send the same request again.'
  throw new Refusal('try_again', message, { retryAfterSeconds: 5 })
}

async function readAnswer(
  deps: LimitsDeps,
  wallet: string,
  limits: WalletLimits,
): Promise<LimitsAnswer> {
  const now = deps.now()
  const spends = await deps.limits.spends(wallet, new Date(now.getTime() - dayMs))
  return answerOf({ wallet, limits, spends }, { now, coolingMs: deps.coolingMs })
}

/** The body as rules. Lists have each value once, and in one order. */
function rulesOf(
  digest: Digest,
  wallet: string,
  body: LimitsBody,
  { inForce, coming }: WalletLimits,
): Rules {
  const knownDigests = [...(inForce.recipients ?? []), ...(coming?.rules.recipients ?? [])]
  const recipients = body.recipients?.map((text) =>
    digestOf(digest, { wallet, text }, knownDigests),
  )
  return present({
    perOrder: body.perOrderUsdc === undefined ? undefined : usdcFromText(body.perOrderUsdc),
    perDay: body.perDayUsdc === undefined ? undefined : usdcFromText(body.perDayUsdc),
    kinds: listOf(body.kinds),
    countries: listOf(body.countries),
    recipients: listOf(recipients),
    approveAbove:
      body.approveAboveUsdc === undefined ? undefined : usdcFromText(body.approveAboveUsdc),
  })
}

function listOf<T extends string>(values: readonly T[] | undefined): readonly T[] | undefined {
  return values && [...new Set(values)].sort()
}

import { usdcFromText } from '../../lib/money.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Digest } from '../../secrets/secrets.ts'
import type { LimitStore, Rules, WalletLimits } from '../ports.ts'
import { answerOf, type LimitsAnswer, type LimitsBody } from './body.ts'
import { changed, dayMs, digestOf, hasRules, noRules, present } from './rules.ts'

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
  return tell(deps, wallet, stored?.limits ?? { inForce: noRules })
}

/** Replaces all limits of the wallet. `changed` says when each takes effect. */
export function setLimits(
  deps: LimitsDeps,
  wallet: string,
  body: LimitsBody,
): Promise<LimitsAnswer> {
  return change(deps, wallet, (limits) => rulesOf(deps.digest, wallet, body, limits))
}

/** Lifts all limits of the wallet, after the delay for looser ones. */
export function liftLimits(deps: LimitsDeps, wallet: string): Promise<LimitsAnswer> {
  return change(deps, wallet, () => noRules)
}

async function change(
  deps: LimitsDeps,
  wallet: string,
  wanted: (limits: WalletLimits) => Rules,
): Promise<LimitsAnswer> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const read = await deps.limits.find(wallet)
    const limits = read?.limits ?? { inForce: noRules }
    const { coolingMs } = deps
    const next = changed(limits, wanted(limits), { now: deps.now(), coolingMs })
    const isNothing = !hasRules(next.inForce) && next.coming === undefined
    if (await deps.limits.replace(wallet, read, isNothing ? undefined : next)) {
      return tell(deps, wallet, next)
    }
  }
  const message =
    'Somebody else is changing these limits at the moment. Send the same request again.'
  throw new Refusal('try_again', message, { retryAfterSeconds: 5 })
}

async function tell(deps: LimitsDeps, wallet: string, limits: WalletLimits): Promise<LimitsAnswer> {
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
  const known = [...(inForce.recipients ?? []), ...(coming?.rules.recipients ?? [])]
  const recipients = body.recipients?.map((text) => digestOf(digest, { wallet, text }, known))
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

function listOf<T extends string>(given: readonly T[] | undefined): readonly T[] | undefined {
  return given && [...new Set(given)].sort()
}

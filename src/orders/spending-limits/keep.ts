import * as z from 'zod'
import { countryMeantBy, isCountry } from '../../catalog/countries.ts'
import { kinds } from '../../catalog/offer.ts'
import { type Fields, meaning } from '../../catalog/purchase-body.ts'
import { dollarsMeantBy, nameMeantBy } from '../../catalog/search/params.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { formatUsdc, type Usdc, usdcFromText } from '../../lib/money.ts'
import { type Fault, type FaultReason, invalidBody, Refusal } from '../../lib/refusal.ts'
import { type Digest, hashOf } from '../../secrets/secrets.ts'
import type { LimitStore, Rules, WalletLimits } from '../ports.ts'
import { LimitMoney, money } from '../price.ts'
import {
  applyRules,
  dayMs,
  digestOf,
  hasRules,
  lessOf,
  noRules,
  readReceiver,
  rulesAt,
  spentOn,
} from './rules.ts'

/** More would not fit into the body of a request. */
export const maxRecipients = 50

/** Text, because most readers take numbers of JSON for floats; an answer of the store can be sent back unchanged. */
const amount = z.string().regex(/^\d{1,9}(\.\d{1,6})?$/)

/** What a wallet may set. A missing field limits nothing. */
export const LimitsBody = z.strictObject({
  perOrderUsdc: amount
    .optional()
    .describe('Most USDC for one order, as text with at most 6 decimals: "25" or "12.50"'),
  perDayUsdc: amount
    .optional()
    .describe('Most USDC within any 24 hours, as text with at most 6 decimals; "0" buys nothing'),
  kinds: z.array(z.enum(kinds)).min(1).max(kinds.length).optional().describe('Kinds of goods'),
  countries: z
    .array(
      z
        .string()
        .transform((code) => code.toUpperCase())
        .refine(isCountry),
    )
    .min(1)
    .max(250)
    .optional()
    .describe(
      'ISO 3166-1 alpha-2 codes of the offers. Plans for many countries have none, and are refused then',
    ),
  recipients: z
    .array(
      z.string().transform((text, context) => {
        const receiver = readReceiver(text)
        if (receiver === undefined) context.addIssue({ code: 'custom' })
        return receiver ?? z.NEVER
      }),
    )
    .min(1)
    .max(maxRecipients)
    .optional()
    .describe(
      'Phone numbers (E.164) of topups, e-mail addresses of vouchers, ICCIDs of recharges. What names none of them is refused then. Kept as keyed digests only',
    ),
  approveAboveUsdc: amount
    .optional()
    .describe(
      'A person approves each order above so many USDC on a page of the store, before it is charged; "0": every order',
    ),
})
export type LimitsBody = z.infer<typeof LimitsBody>

const limitFields = Object.keys(LimitsBody.shape)

/** @throws Refusal `invalid_body` that lists every fault */
export function readLimits(fields: Fields): LimitsBody {
  const parsed = LimitsBody.safeParse(fields)
  if (!parsed.success)
    throw invalidBody(parsed.error.issues.flatMap((one) => faultsOf(one, fields)))
  if (Object.keys(parsed.data).length > 0) return parsed.data
  throw invalidBody([{ field: limitFields[0] ?? '', code: 'no_limit', known: limitFields }])
}

/**
 * What the owner of the wallet signs: these limits in words, with recipients so far that they are recognised, and the
 * SHA-256 of their canonical JSON (RFC 8785), so that the signature is for no others. In characters that a statement
 * may have (EIP-4361).
 */
export function sentenceOf(body: LimitsBody): string {
  const { perOrderUsdc, perDayUsdc, approveAboveUsdc, ...lists } = body
  const { kinds, countries, recipients } = lists
  const parts = [
    perOrderUsdc && `at most ${formatUsdc(usdcFromText(perOrderUsdc))} USDC per order`,
    perDayUsdc && `at most ${formatUsdc(usdcFromText(perDayUsdc))} USDC in any 24 hours`,
    kinds && `kinds ${kinds.join(', ')}`,
    countries && `countries ${countries.join(', ')}`,
    recipients && `recipients ${recipients.map(masked).join(', ')}`,
    approveAboveUsdc &&
      `orders above ${formatUsdc(usdcFromText(approveAboveUsdc))} USDC only if a person approves them`,
  ]
  const digest = hashOf(canonicalJson(body))
  return `Limit what this wallet buys here to: ${parts.filter(Boolean).join('; ')}. SHA-256 of these limits: ${digest}.`
}

/** "+53***362" and "a***@example.com", with no more of a long domain than fits. */
function masked(recipient: string): string {
  const [local = '', domain] = recipient.split('@')
  if (domain === undefined) return `${local.slice(0, 3)}***${local.slice(-3)}`
  return `${local.slice(0, 1)}***@${domain.length > 30 ? `***${domain.slice(-27)}` : domain}`
}

function faultsOf(issue: z.core.$ZodIssue, fields: Fields): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    const unknown = { code: 'unknown_limit', known: limitFields } as const
    return issue.keys.map((key) =>
      meaning({ field: key, ...unknown }, nameMeantBy(key, limitFields)),
    )
  }
  const [field, at] = issue.path
  const name = String(field)
  const value = fields[name]
  const item = typeof at === 'number' && Array.isArray(value) ? { at, value: value[at] } : undefined
  // In a list, only a single item can have been meant as something else.
  const meant = name.endsWith('Usdc') || item ? meantBy(name, item ? item.value : value) : undefined
  const reason: FaultReason = item
    ? { code: 'malformed_item', position: item.at + 1 }
    : { code: 'malformed' }
  return [meaning({ field: name, ...reason }, meant)]
}

/** What was probably meant. A recipient is not repeated, because it is personal. */
function meantBy(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
  if (name === 'kinds') return nameMeantBy(text, kinds)
  if (name === 'countries') return countryMeantBy(text)
  return name.endsWith('Usdc') ? dollarsMeantBy(text)?.toString() : undefined
}

const PublishedRules = z.object({
  perOrder: LimitMoney.optional(),
  perDay: LimitMoney.optional(),
  kinds: z.array(z.enum(kinds)).optional(),
  countries: z.array(z.string()).optional(),
  recipients: z
    .int()
    .optional()
    .describe('How many there are. Who they are is kept as keyed digests, and cannot be told'),
  approveAbove: LimitMoney.optional().describe('A person approves what costs more, first'),
})

export const LimitsAnswer = z
  .object({
    wallet: z.string(),
    inForce: PublishedRules.describe('What holds now. A rule that is absent limits nothing'),
    coming: z
      .object({ from: z.iso.datetime(), limits: PublishedRules })
      .nullable()
      .describe('What will hold in its place, and from when: whatever is looser waits'),
    coolingHours: z.number().describe('How long what is looser waits before it holds'),
    lastDay: z.object({
      since: z.iso.datetime(),
      spent: LimitMoney.describe(
        'Paid for orders placed in the last 24 hours, less what came back',
      ),
      remaining: LimitMoney.nullable().describe('Null while no limit of a day is in force'),
    }),
  })
  .meta({ id: 'WalletLimits' })
export type LimitsAnswer = z.infer<typeof LimitsAnswer>

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
  const since = new Date(now.getTime() - dayMs)
  const spent = spentOn(await deps.limits.spends(wallet, since))
  const inForce = rulesAt(limits, now)
  const coming = limits.coming && limits.coming.from > now ? limits.coming : undefined
  return {
    wallet,
    inForce: published(inForce),
    coming: coming ? { from: coming.from.toISOString(), limits: published(coming.rules) } : null,
    coolingHours: deps.coolingMs / 3_600_000,
    lastDay: {
      since: since.toISOString(),
      spent: money(spent),
      remaining: inForce.perDay === undefined ? null : money(lessOf(inForce.perDay, spent)),
    },
  }
}

function published(rules: Rules): z.infer<typeof PublishedRules> {
  const { perOrder, perDay, recipients, approveAbove } = rules
  return {
    perOrder: perOrder === undefined ? undefined : money(perOrder),
    perDay: perDay === undefined ? undefined : money(perDay),
    kinds: rules.kinds && [...rules.kinds],
    countries: rules.countries && [...rules.countries],
    recipients: recipients?.length,
    approveAbove: approveAbove === undefined ? undefined : money(approveAbove),
  }
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
  return {
    perOrder: usdcIn(body.perOrderUsdc),
    perDay: usdcIn(body.perDayUsdc),
    kinds: listOf(body.kinds),
    countries: listOf(body.countries),
    recipients: listOf(recipients),
    approveAbove: usdcIn(body.approveAboveUsdc),
  }
}

function usdcIn(text: string | undefined): Usdc | undefined {
  return text === undefined ? undefined : usdcFromText(text)
}

function listOf<T extends string>(values: readonly T[] | undefined): readonly T[] | undefined {
  return values && [...new Set(values)].sort()
}

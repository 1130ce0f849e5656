import * as z from 'zod'
import { kinds } from '../../catalog/good.ts'
import { formatUsdc, type Usdc, usdc } from '../../lib/money.ts'
import { dayMs, type Rules, rulesAt, type Spend, spentOn, type WalletLimits } from './rules.ts'

export const LimitMoney = z.object({
  usdc: z.string().describe('As people write it: "12.50"'),
  atomic: z.string().describe('In millionths of a USDC, as x402 carries it: "12500000"'),
})

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

/** The limits of a wallet, as the store publishes them to it. */
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

export function answerOf(
  { wallet, limits, spends }: { wallet: string; limits: WalletLimits; spends: readonly Spend[] },
  { now, coolingMs }: { readonly now: Date; readonly coolingMs: number },
): LimitsAnswer {
  const inForce = rulesAt(limits, now)
  const coming = limits.coming && limits.coming.from > now ? limits.coming : undefined
  const spent = spentOn(spends)
  const remaining = inForce.perDay === undefined ? undefined : lessOf(inForce.perDay, spent)
  return {
    wallet,
    inForce: published(inForce),
    coming: coming ? { from: coming.from.toISOString(), limits: published(coming.rules) } : null,
    coolingHours: coolingMs / 3_600_000,
    lastDay: {
      since: new Date(now.getTime() - dayMs).toISOString(),
      spent: money(spent),
      remaining: remaining === undefined ? null : money(remaining),
    },
  }
}

export function money(amount: Usdc): z.infer<typeof LimitMoney> {
  return { usdc: formatUsdc(amount), atomic: amount.toString() }
}

/** What is left of a limit; nothing if more was spent already. */
export function lessOf(limit: Usdc, spent: Usdc): Usdc {
  return usdc(limit > spent ? limit - spent : 0n)
}

function published(rules: Rules): z.infer<typeof PublishedRules> {
  const { perOrder, perDay, recipients, approveAbove } = rules
  return {
    ...(perOrder === undefined ? {} : { perOrder: money(perOrder) }),
    ...(perDay === undefined ? {} : { perDay: money(perDay) }),
    ...(rules.kinds === undefined ? {} : { kinds: [...rules.kinds] }),
    ...(rules.countries === undefined ? {} : { countries: [...rules.countries] }),
    ...(recipients === undefined ? {} : { recipients: recipients.length }),
    ...(approveAbove === undefined ? {} : { approveAbove: money(approveAbove) }),
  }
}

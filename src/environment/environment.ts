import type * as z from 'zod'
import { alerts, caps, database, mail, mode, policy, sandbox, server, site } from './common.ts'
import { chain, facilitator, processor, secrets, supplier } from './live.ts'
import { aboutOf } from './variable.ts'

export const commonShape = { ...server, ...site, ...mail, ...alerts, ...policy, ...caps }
export const sandboxShape = sandbox
/** Of these, the sandbox knows only DATABASE_URL. */
export const liveShape = {
  ...database,
  ...chain,
  ...facilitator,
  ...supplier,
  ...processor,
  ...secrets,
}

type Group = Readonly<{ title: string; shape: Readonly<Record<string, z.ZodType>> }>

export const groups: readonly Group[] = [
  { title: 'Mode', shape: mode },
  { title: 'Server', shape: server },
  { title: 'Database', shape: database },
  { title: 'Storefront', shape: site },
  { title: 'Mail', shape: mail },
  { title: 'Alerts from the store itself', shape: alerts },
  { title: 'Prices and deadlines', shape: policy },
  { title: 'Caps and budgets', shape: caps },
  { title: 'Sandbox only', shape: sandbox },
  { title: 'Live only: chain and wallets', shape: chain },
  { title: 'Live only: hosted facilitator', shape: facilitator },
  { title: 'Live only: suppliers and exchange rates', shape: supplier },
  { title: 'Live only: BTCPay Server', shape: processor },
  { title: 'Live only: secrets key', shape: secrets },
]

const everyVariable = Object.entries({ ...commonShape, ...sandboxShape, ...liveShape })

export const secretVariables: readonly string[] = everyVariable
  .filter(([, schema]) => aboutOf(schema)?.isSecret)
  .map(([name]) => name)

const shared = everyVariable.filter(([, schema]) => aboutOf(schema)?.perNode !== 'value')

export const sharedVariables: readonly string[] = shared.map(([name]) => name)

export function sharedOf(env: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const textOf = ([name, schema]: (typeof everyVariable)[number]) => {
    const value = env[name] ?? null
    if (aboutOf(schema)?.perNode !== undefined) return String(value !== null)
    // The case of an address says nothing.
    return JSON.stringify(value).replace(/"0x[0-9a-fA-F]{40}"/g, (one) => one.toLowerCase())
  }
  return Object.fromEntries(shared.map((one) => [one[0], textOf(one)]))
}

/** A text of each variable that has a value, a default included. */
export function settingsOf(env: Readonly<Record<string, unknown>>) {
  const set = everyVariable.filter(([name]) => env[name] !== undefined)
  return set.map(([name, schema]) => {
    const text = typeof env[name] === 'string' ? env[name] : JSON.stringify(env[name])
    return { name, text, isSecret: aboutOf(schema)?.isSecret === true }
  })
}

/** Names the variable and what to set. Never the value: it may be a key. */
export function problemOf(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0] ?? 'environment')
  const schema = everyVariable.find(([variableName]) => variableName === name)?.[1]
  const required = schema && aboutOf(schema)?.required
  return issue.input === undefined && required
    ? `${name} is missing; set it to ${required}`
    : `${name} ${issue.message}`
}

export function needProblems(variables: object): string[] {
  const lacking = everyVariable.flatMap(([name, schema]) => {
    const missing = (aboutOf(schema)?.needs ?? []).filter((other) => !(other in variables))
    return name in variables && missing.length > 0 ? [{ name, missing: missing.join(', ') }] : []
  })
  const alike = Map.groupBy(lacking, ({ missing }) => missing)
  return Array.from(alike, ([missing, all]) => {
    return `${all.map(({ name }) => name).join(', ')} without ${missing}: set all of them, or none`
  })
}

export class ConfigError extends Error {
  readonly problems: readonly string[]
  /** Whether a later start may do better with the same settings: a part did not answer. */
  readonly mayPass: boolean

  constructor(problems: readonly string[], mayPass = false) {
    super(
      `The store cannot start with this environment:\n${problems.map((line) => `  - ${line}`).join('\n')}\nAll variables are described in .env.example.`,
    )
    this.name = 'ConfigError'
    this.problems = problems
    this.mayPass = mayPass
  }
}

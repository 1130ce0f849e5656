import { keyOf } from '../api/buying/credentials.ts'
import type { PaymentTransport } from '../api/buying/payment-required.ts'
import { type Presented, presentedIn } from '../api/buying/purchase.ts'
import { buyPath, type Credentials, mcpPath, type ProofLimit } from '../api/operation.ts'
import { kinds } from '../catalog/offer.ts'
import { fieldsOfEveryPurchase, kindSchemaFor } from '../catalog/purchase-body.ts'
import {
  echoOf,
  invalidParameter,
  type ParamSource,
  unknownParameter,
} from '../catalog/search/params.ts'
import { parseJson } from '../lib/http-call.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { HostSettings, Person } from './host.ts'

export type JsonObject = { readonly type: 'object' } & Readonly<Record<string, unknown>>

export interface ToolCall {
  /** As sent, except those that are null: callers send null for arguments that they leave out. */
  readonly args: Readonly<Record<string, unknown>>
  /** The `_meta` of the call, which models do not see: payments and sign-ins. */
  readonly meta: Readonly<Record<string, unknown>>
  readonly client: string
  readonly proofs: ProofLimit
  readonly host: HostSettings
  readonly person: Person
  /** Set if the call is above a limit and may only find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

type Arguments = Readonly<Record<string, unknown>>

const controlCharacters = /\p{Cc}/u

/**
 * The arguments of a tool as the parameters of an operation, so that the same code reads them as a query. A number
 * is equal to its text, and a list to its items joined by commas.
 */
export function inArguments(args: Arguments): ParamSource {
  return (allowed) =>
    new Map(
      Object.entries(args).map(([name, value]) => {
        if (!allowed.includes(name)) throw unknownParameter(name, allowed)
        return [name, textOf(name, value)]
      }),
    )
}

/** The arguments that are not null: many callers send null for an argument that they leave out. */
export function withoutNulls(args: Arguments): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

function textOf(name: string, value: unknown): string {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!items.every(isPlain)) {
    throw invalidParameter(
      echoOf(name),
      `${echoOf(name)} must be text, a number, or true or false.`,
    )
  }
  const text = items.join(',').trim()
  if (controlCharacters.test(text)) {
    throw invalidParameter(echoOf(name), `${echoOf(name)} must not have control characters.`)
  }
  return text
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

export function flagIn(args: Arguments, name: string): boolean {
  const value = args[name] ?? false
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false' || value === '') return value === 'true'
  throw invalidParameter(name, `${name} must be true or false.`)
}

export function textIn(args: Arguments, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined
  throw invalidParameter(name, `${name} must be text.`)
}

export function without(args: Arguments, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}

/** All arguments except empty strings: models send them for arguments that they leave out. */
export function withoutEmpty(args: Arguments): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== ''))
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of arguments: their types, enums and meaning. All other rules are in the descriptions, because
 * hosts validate a call against the schema before the store sees it. Some then tell the model only that the call does
 * not match, while the store says what to correct; others reject schemas with patterns or bounds, or drop arguments
 * that the schema does not name.
 */
export function argumentSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): JsonObject {
  const published = Object.entries(properties).map(([name, schema]) => [name, argument(schema)])
  return {
    type: 'object',
    properties: Object.fromEntries(published),
    ...(required.length === 0 ? {} : { required }),
  }
}

function argument({ type, description, enum: values, items, ...checked }: Schema): Schema {
  const { minimum, maximum, maxItems, default: usual } = checked
  const notes = [
    ...(maximum === undefined ? [] : [`${String(minimum)} to ${String(maximum)}`]),
    ...(maxItems === undefined ? [] : [`at most ${String(maxItems)}`]),
    ...(usual === undefined || usual === false ? [] : [`${String(usual)} if left out`]),
  ]
  const noted = notes.length === 0 ? description : `${String(description)} (${notes.join('; ')})`
  return {
    type,
    ...(values === undefined ? {} : { enum: values }),
    ...(items === undefined ? {} : { items }),
    description: noted,
  }
}

/** The fields of purchases of all kinds, as arguments. The record of an offer says which it requires. */
export function purchaseFields(): Readonly<Record<string, Schema>> {
  const fields = kinds.flatMap((kind) =>
    Object.entries(kindSchemaFor(kind).properties as Readonly<Record<string, Schema>>).map(
      ([name, { type, description }]) => {
        const isShared = name === 'value' || fieldsOfEveryPurchase.includes(name)
        const text = isShared ? description : `${kind}: ${String(description)}`
        return [name, { type, description: text }] as const
      },
    ),
  )
  return {
    ...Object.fromEntries(fields),
    [otherFields]: {
      type: 'object',
      description: 'voucher: other fields that requiredFields of the offer names',
    },
    offerId: { type: 'string', description: 'From search' },
  }
}

/** Holds the fields that only some offers take: naming them all would double the list of tools. */
const otherFields = 'other_fields'

export function purchaseIn({ [otherFields]: others, ...own }: Schema): Record<string, unknown> {
  return { ...fieldsIn(others), ...own }
}

/** Models send objects as JSON text too. Anything else is refused as a field that is not known. */
function fieldsIn(others: unknown): Schema {
  const parsed = typeof others === 'string' ? parseJson(others) : undefined
  const value = parsed === undefined ? others : parsed
  if (value === undefined || value === null || value === '') return {}
  const isObject = typeof value === 'object' && !Array.isArray(value)
  return isObject ? (value as Schema) : { [otherFields]: value }
}

/** The keys of x402 payments and settlements in `_meta` (the MCP transport of x402). */
const paymentKey = 'x402/payment'
export const receiptKey = 'x402/payment-response'
/** The key of a sign-in: the value of the header SIGN-IN-WITH-X, or the object that it encodes. */
const signInKey = 'sign-in-with-x'

/** A catalogue calls the tool by this address and by the name in the discovery (x402 extension bazaar, "MCP Tools"). */
export const mcpTransport: PaymentTransport = {
  resource: ({ url }) => `${url}${mcpPath}`,
  keysTellPurchases: false,
  howToSend: `call buy again with the same arguments and the payment in _meta["${paymentKey}"]`,
  otherwise: ({ url }, { offerId }) =>
    `If you cannot send _meta, have an x402 client GET the payableUrl of quote, or give the person ${url}${buyPath(String(offerId))} to pay there.`,
  discovery: () => toolBazaar,
}

export const signInGuidance = `Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and call again with it in _meta["${signInKey}"]. Nothing is charged.`

/** Whether a call has a signature to check, which costs computation and calls to the chain. */
export function carriesProof({ meta }: Pick<ToolCall, 'meta'>): boolean {
  return meta[paymentKey] !== undefined || meta[signInKey] !== undefined
}

export function bringsPayment({ meta }: Pick<ToolCall, 'meta'>): boolean {
  return (meta[paymentKey] ?? undefined) !== undefined
}

export function presentedWith({ meta }: ToolCall): Presented {
  return bringsPayment({ meta })
    ? presentedIn(meta[paymentKey], unreadablePayment)
    : { type: 'none' }
}

export const credentialFields = {
  idempotency_key: {
    type: 'string',
    description: 'That of the purchase: finds the order, and shows that the goods are yours',
  },
  access_token: {
    type: 'string',
    description: 'The accessToken of the purchase: shows that the goods are yours',
  },
} as const

export function credentialsIn(call: ToolCall): Credentials {
  const { args } = call
  return {
    accessToken: textIn(args, 'access_token'),
    signIn: signInWith(call),
    idempotencyKey: keyIn(args),
  }
}

export function keyIn(args: ToolCall['args']): string | undefined {
  return keyOf(textIn(args, 'idempotency_key'), 'idempotency_key')
}

/** The sign-in of a call, encoded as in the HTTP header, whether it came encoded or as an object. */
export function signInWith({ meta }: ToolCall): string | undefined {
  const signIn = meta[signInKey]
  if (signIn === undefined || signIn === null) return undefined
  if (typeof signIn === 'string') return signIn
  return Buffer.from(JSON.stringify(signIn)).toString('base64')
}

function unreadablePayment(why: string): Presented {
  return {
    type: 'unreadable',
    reason: `The payment in _meta["${paymentKey}"] cannot be read: ${why}`,
  }
}

/** As short as the specification allows: a model reads it with every price, and has the tool's own schema. */
const toolBazaar = {
  bazaar: {
    info: {
      input: {
        ...{ type: 'mcp', toolName: 'buy', transport: 'streamable-http' },
        inputSchema: { type: 'object', required: ['offerId', 'idempotency_key'] },
      },
    },
    schema: { type: 'object', required: ['input'] },
  },
} as const

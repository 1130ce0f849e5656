import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createTransport,
  type EIP1193RequestFn,
  ExecutionRevertedError,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
  RpcRequestError,
  TimeoutError,
  type Transport,
} from 'viem'
import { whyUnreached } from '../../lib/errors.ts'
import { parseJson, readText } from '../../lib/http-call.ts'

const maxCallMs = 8_000

/** A passkey wallet that has yet to be deployed takes a fifth of this. */
const callGas = '0x989680'

/** The gas limit of an estimate. The store pays for a quarter of this at most. */
const estimateGas = '0x3d0900'

const gasFor: Readonly<Record<string, string>> = {
  eth_call: callGas,
  eth_estimateGas: estimateGas,
}

/** A call that failed in transit is repeated once. */
export function rpcTransport(
  url: string,
  load: NodeLoad = nodeLoad(),
  maxMs = maxCallMs,
): Transport {
  const address = nodeAddress(url)
  const request = async (rpcRequest: RpcRequest) => {
    const body = withGas(rpcRequest)
    try {
      const { error, result } = await answerOf(address, body, maxMs)
      if (error) throw new RpcRequestError({ body, error: error as never, url: address.url })
      load.note()
      return result
    } catch (error) {
      load.note(error)
      throw error
    }
  }
  return ({ timeout }) =>
    createTransport({
      key: 'http',
      name: 'HTTP JSON-RPC',
      type: 'http',
      retryCount: 1,
      timeout,
      request: request as EIP1193RequestFn,
    })
}

function withGas({ method, params }: RpcRequest): { method: string; params: unknown } {
  const gas = gasFor[method]
  if (gas === undefined || !Array.isArray(params)) return { method, params }
  const [call, ...rest] = params
  return { method, params: [{ gas, ...call }, ...rest] }
}

const maxAnswerBytes = 10 * 1_048_576

interface RpcRequest {
  readonly method: string
  readonly params?: unknown
}

interface NodeAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A name and a password in the URL go into a header, because `fetch` rejects such a URL. */
function nodeAddress(text: string): NodeAddress {
  const url = new URL(text)
  const headers = { 'content-type': 'application/json' }
  if (url.username === '') return { url: text, headers }
  const secret = [url.username, url.password].map(decodeURIComponent).join(':')
  url.username = ''
  url.password = ''
  const authorization = `Basic ${Buffer.from(secret).toString('base64')}`
  return { url: url.href, headers: { ...headers, authorization } }
}

interface Answer {
  readonly result?: unknown
  readonly error?: unknown
}

/** viem's own transport also makes a second `Request` and a timeout error for each call. */
async function answerOf(
  { url, headers }: NodeAddress,
  body: { method: string; params: unknown },
  maxMs: number,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      // Each HTTP request carries one call, so all calls can have the same id.
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      redirect: 'error',
      signal: AbortSignal.timeout(maxMs),
    })
    return await readAnswer(response, { url, body })
  } catch (error) {
    if (error instanceof HttpRequestError) throw error
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
    if (isTimeout) throw new TimeoutError({ body, url })
    const why = `The node cannot be asked: ${whyUnreached(error)}.`
    throw unanswered(why, { body, cause: error as Error, url })
  }
}

async function readAnswer(
  response: Response,
  { url, body }: { readonly url: string; readonly body: { method: string; params: unknown } },
): Promise<Answer> {
  const text = await readText(response, maxAnswerBytes)
  if (text === undefined) throw unanswered("The node's answer is too large.", { body, url })
  const parsed = parseJson(text)
  const answer = typeof parsed === 'object' && parsed !== null ? (parsed as Answer) : undefined
  // Some nodes refuse with a JSON-RPC error and an HTTP error status: the former says why.
  if (answer && (response.ok || isRefusal(answer.error))) return answer
  if (response.ok) throw unanswered('The node answers no JSON.', { body, url })
  const { status, statusText: details, headers } = response
  throw unanswered(`The node answers ${status}.`, { body, details, headers, status, url })
}

/** Puts the cause in the first line, which logs and health show: viem's is the same for every failure. */
function unanswered(
  why: string,
  what: ConstructorParameters<typeof HttpRequestError>[0],
): HttpRequestError {
  const error = new HttpRequestError(what)
  error.message = error.message.replace(error.shortMessage, why)
  error.shortMessage = why
  return error
}

function isRefusal(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return typeof code === 'number' && typeof message === 'string'
}

export type NodeLoad = ReturnType<typeof nodeLoad>

/** Providers count calls by the second, some by ten seconds. */
const crowdedMs = 2_000

export function nodeLoad(now: () => number = () => performance.now()) {
  let answeredAt = Number.NEGATIVE_INFINITY
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    note(error?: unknown): void {
      if (error === undefined) answeredAt = now()
      else if (isTooOften(error)) refusedAt = now()
    },
    hasAnsweredSince: (time: number) => answeredAt >= time,
    isCrowded: () => now() - refusedAt < crowdedMs,
  }
}

const maxChecks = 100
/** The same while the node is crowded: the rest of its quota is for paid orders and for probes. */
const checksWhenCrowded = 4

export function checksAtOnce(load: Pick<NodeLoad, 'isCrowded'>) {
  let underWay = 0
  return async <T>(check: () => Promise<T>, busy: T): Promise<T> => {
    if (underWay >= (load.isCrowded() ? checksWhenCrowded : maxChecks)) return busy
    underWay += 1
    try {
      return await check()
    } finally {
      underWay -= 1
    }
  }
}

const silences = [
  HttpRequestError,
  TimeoutError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
] as const
const refusals = [
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
] as const

/** Words of nodes that report a failure in a contract as an internal error. */
const ofContract = /revert|evm|gas|opcode|stack/i

/** The words of Geth, Erigon and Reth; Nethermind; Besu; and older ones, which cannot tell it from a failing call. */
const outOfGas =
  /gas required exceeds|out of gas|outofgas|gas spent exceeded|exceeds? (the )?block gas limit|always failing transaction/i

const tooOften = /rate.?limit|too many requests|requests? (per|limit)|compute units|throughput/i

export function isTooOften(error: unknown): boolean {
  return has(
    error,
    (cause) =>
      (cause instanceof HttpRequestError && cause.status === 429) ||
      (cause instanceof RpcRequestError && tooOften.test(cause.details)),
  )
}

export function isOutOfGas(error: unknown): boolean {
  return has(error, (cause) => cause instanceof RpcRequestError && outOfGas.test(cause.details))
}

/** Whether the node did not answer the question, so that nothing follows from it. */
export function isSilence(error: unknown): boolean {
  if (isOutOfGas(error)) return false
  return has(error, (cause) => silences.some((kind) => cause instanceof kind) || isInternal(cause))
}

/** Whether a contract refused the call. An internal error of the node looks the same to viem. */
export function isRevert(error: unknown): boolean {
  return has(error, (cause) => refusals.some((kind) => cause instanceof kind)) && !isSilence(error)
}

function isInternal(cause: unknown): boolean {
  return cause instanceof InternalRpcError && !ofContract.test(cause.details)
}

function has(error: unknown, predicate: (cause: unknown) => boolean): boolean {
  return error instanceof BaseError && error.walk(predicate) !== null
}

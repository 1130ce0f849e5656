import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
  RpcRequestError,
  TimeoutError,
} from 'viem'

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

/**
 * How nodes say that a call needs more gas than its limit: Geth, Erigon and Reth; Nethermind; Besu; and
 * older ones, which cannot tell it from a call that always fails.
 */
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

function has(error: unknown, met: (cause: unknown) => boolean): boolean {
  return error instanceof BaseError && error.walk(met) !== null
}

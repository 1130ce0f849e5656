/**
 * The same error with a message. Where a host has several addresses, Node leaves it empty and keeps what
 * became of each one in `errors`.
 */
export function withReasons(error: Error): Error {
  if (error instanceof AggregateError && error.message === '') {
    error.message = error.errors.map(({ message }) => message).join('; ')
  }
  return error
}

import type { ZodOpenApiOperationObject } from 'zod-openapi'
import type { Operation } from '../src/api/operation.ts'
import type { Example } from './examples.ts'
import { paymentInfo } from './payment-info.ts'
import { examplesOf, responsesOf } from './responses.ts'

/** The operation object of the document. */
export function operationObject(
  operation: Operation,
  examples: readonly Example[],
): ZodOpenApiOperationObject {
  const { id, name, description, group, access, body } = operation
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    summary: name,
    description,
    tags: [group],
    // An empty list means no authentication; a payment is not authentication.
    security: access === 'sign_in' ? [{ siwx: [] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(operation, body, examples) }),
    responses: responsesOf(operation, examples),
    ...(typeof access === 'object' ? { 'x-payment-info': paymentInfo(access.pays) } : {}),
  }
}

type Parameters = Exclude<ZodOpenApiOperationObject['parameters'], undefined>

function parametersOf(operation: Operation): Parameters {
  const { pathParams = {}, query = {}, needs = [], headers = {} } = operation
  return [
    ...Object.entries(pathParams).map(([name, schema]) => parameter('path', name, schema, true)),
    ...Object.entries(query).map(([name, { schema }]) =>
      parameter('query', name, schema, needs.includes(name)),
    ),
    ...Object.entries(headers).map(([name, { schema, required = false }]) =>
      parameter('header', name, schema, required),
    ),
  ]
}

function parameter(
  where: 'path' | 'query' | 'header',
  name: string,
  described: object,
  required: boolean,
): Parameters[number] {
  const { description, ...schema } = described as { description?: string }
  return {
    name,
    in: where,
    ...(description === undefined ? {} : { description }),
    ...(required ? { required } : {}),
    schema,
  }
}

/** Bodies of successful requests are the examples. */
function requestBodyOf({ answers }: Operation, body: object, examples: readonly Example[]) {
  const { $schema: _, ...schema } = body as { $schema?: string }
  const good = examples.filter(({ status, sent }) => status in answers && sent !== undefined)
  const shown = good.map(({ name, summary, sent: value }) => ({ name, summary, value }))
  return {
    required: true,
    content: { 'application/json': { schema, ...examplesOf(shown) } },
  }
}

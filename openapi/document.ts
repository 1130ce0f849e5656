import { createDocument } from 'zod-openapi'
import { discoveryVersion } from '../src/api/discovery/service-index.ts'
import { groups, type Operation } from '../src/api/operation.ts'
import { readConfig } from '../src/config.ts'
import type { Example, Recorded } from './examples.ts'
import { guidance, textsOfGroups } from './guidance.ts'
import { operationObject } from './operation-object.ts'
import { sharedHeaders } from './responses.ts'

/** The store in the checked-in document: one without any setting. */
export const documentSite = readConfig({}).site

/**
 * The OpenAPI 3.1 document of these operations, for the store `documentSite`. A running store replaces it
 * with itself.
 *
 * @param recorded real answers; the first success of each operation and the refusals become examples
 */
export function openApiOf(operations: readonly Operation[], recorded: Recorded): object {
  const { name, description, contact, url } = documentSite
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: name,
        version: discoveryVersion,
        description,
        contact: { name, email: contact, url },
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        'x-guidance': guidance,
      },
      servers: [{ url }],
      tags: groups.map((group) => ({ name: group, description: textsOfGroups[group] })),
      paths: pathsOf(operations, recorded),
      components: {
        headers: sharedHeaders,
        securitySchemes: {
          // Tools for x402 recognise this scheme by its name.
          siwx: {
            type: 'apiKey',
            in: 'header',
            name: 'SIGN-IN-WITH-X',
            description:
              'The challenge of the 402, signed by the paying wallet (x402 extension sign-in-with-x); base64 of JSON.',
            'x-agentcash-auth-kind': 'siwx',
          },
        },
      },
      'x-service-info': {
        categories: ['commerce', 'digital-goods'],
        docs: { homepage: url, apiReference: `${url}/llms-full.txt` },
      },
    },
    {
      override: ({ jsonSchema, io }) => {
        // Answers may get new fields, which clients must accept.
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties
        }
        // The format already says what the pattern does.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    },
  )
}

function pathsOf(operations: readonly Operation[], recorded: Recorded) {
  const paths: Record<string, Record<string, ReturnType<typeof operationObject>>> = {}
  for (const operation of operations) {
    const methods = paths[operation.path] ?? {}
    paths[operation.path] = methods
    methods[operation.method.toLowerCase()] = operationObject(
      operation,
      briefly(recorded[operation.id] ?? []),
    )
  }
  return paths
}

/** The first success and all refusals; the store serves the others on request (`src/http/openapi.ts`). */
function briefly(examples: readonly Example[]): readonly Example[] {
  const first = examples.find(({ status }) => status < 400)
  return examples.filter((example) => example === first || example.status >= 400)
}

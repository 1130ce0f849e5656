import { createDocument } from 'zod-openapi'
import { discoveryVersion } from '../src/api/discovery/paths.ts'
import { groups, type Operation } from '../src/api/operation.ts'
import { readConfig } from '../src/config.ts'
import type { Recorded } from './examples.ts'
import { guidance, textsOfGroups } from './guidance.ts'
import { operationObject } from './operation-object.ts'
import { sharedHeaders } from './responses.ts'

/** The store that the checked-in document speaks of: one that was started with nothing set. */
export const documentSite = readConfig({}).site

/**
 * The OpenAPI 3.1 document of these operations, for a store that is named by `documentSite`: a
 * running store puts itself in its place.
 *
 * @param recorded real answers, which become the examples
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
          // Readers of the field know this scheme by its name.
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
        docs: { homepage: url, apiReference: `${url}/docs/api` },
      },
    },
    {
      // Answers may grow, so whoever reads them takes fields that are not known yet.
      override: ({ jsonSchema, io }) => {
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties
        }
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
      recorded[operation.id] ?? [],
    )
  }
  return paths
}

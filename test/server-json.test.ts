import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { mcpPath } from '../src/api/paths.ts'

const read = (name: string) => JSON.parse(readFileSync(name, 'utf8'))
const server: unknown = read('server.json')

const input = z.strictObject({
  description: z.string(),
  isRequired: z.boolean(),
  placeholder: z.string(),
})

/** What the registry's schema of 2025-12-11 asks for, as far as a remote server uses it. */
const ServerJson = z.strictObject({
  $schema: z.literal(
    'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  remotes: z
    .array(
      z.strictObject({
        type: z.literal('streamable-http'),
        url: z.string().regex(/^https:\/\/[^\s]+$/),
        variables: z.record(z.string(), input),
      }),
    )
    .length(1),
})

test('server.json is what the registry of MCP servers takes', () => {
  expect(ServerJson.safeParse(server)).toMatchObject({ success: true })
})

test('it names this version, and the address where the server is', () => {
  const { version, remotes } = ServerJson.parse(server)
  expect(version).toBe(read('package.json').version)
  expect(remotes[0]?.url).toBe(`https://{host}${mcpPath}`)
})

test('every variable of its address is explained, and none besides', () => {
  for (const { url, variables } of ServerJson.parse(server).remotes) {
    const named = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(named).toEqual(Object.keys(variables))
  }
})

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { leftOut } from '../../harness/left-out.ts'
import { useStore } from '../store.ts'

const place = '.ci/hosts'
const program = `${place}/node_modules/@modelcontextprotocol/conformance/dist/index.js`
const notInstalled = leftOut(
  existsSync(program) ? undefined : `no conformance tests of MCP: npm ci --prefix ${place}`,
)

const store = useStore('still')

/** The official tests of the protocol. What does not apply to a store is listed, with the reason. */
function tested(revision: string): Promise<{ readonly code: unknown; readonly said: string }> {
  const args = ['server', '--url', `${store.url}/mcp`, '--requirements', revision]
  const listed = ['--expected-failures', 'test/stories/mcp/not-applicable.yaml']
  return new Promise((resolve) => {
    const options = { maxBuffer: 50_000_000 }
    execFile(process.execPath, [program, ...args, ...listed], options, (error, out, err) => {
      resolve({ code: error?.code ?? 0, said: `${out}\n${err}` })
    })
  })
}

test.skipIf(notInstalled)(
  'the requirements of 2026-07-28 are met, but for what is listed',
  async () => {
    const { code, said } = await tested('2026-07-28')
    expect(code, said).toBe(0)
  },
)

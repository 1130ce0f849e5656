import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { leftOut } from '../harness/left-out.ts'

/** Programs that run agents, each with its own way from a model to a tool and back. */
const place = '.ci/hosts'
const installed = `${place}/node_modules`

/** Why nothing shops from other people's hosts here, where they are not installed. */
export const noHosts = leftOut(
  existsSync(installed) ? undefined : `no hosts of agents: npm ci --prefix ${place}`,
)

type Arguments = Readonly<Record<string, unknown>>

export interface Host {
  /** The tools that its model is told of. */
  readonly tools: readonly string[]
  /** What its model reads of a call, and what else the host has of it: the reader of a terminal reads all. */
  call(tool: string, args: Arguments, payment?: Arguments): Promise<string>
  close(): Promise<void>
}

export interface HostKind {
  /** Whether it can send a payment with a call of a tool (`_meta`). */
  readonly sendsMeta: boolean
  readonly open: (url: string) => Promise<Host>
}

export const hosts: Readonly<Record<string, HostKind>> = {
  'mcp-remote': { sendsMeta: true, open: openBridge },
  'the Inspector': { sendsMeta: true, open: openInspector },
  LangChain: { sendsMeta: false, open: program('langchain.mjs') },
  Mastra: { sendsMeta: true, open: program('mastra.mjs') },
  'the AI SDK': { sendsMeta: false, open: program('ai-sdk.mjs') },
  'OpenAI Agents': { sendsMeta: true, open: program('openai-agents.mjs') },
  'OpenAI Agents, strict': { sendsMeta: true, open: program('openai-agents.mjs', 'strict') },
}

/**
 * What a host is started with: none of this machine's settings, a home of its own, and no connection to
 * anywhere but this machine.
 */
async function surroundings() {
  const home = await mkdtemp(join(tmpdir(), 'host-'))
  const env = {
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    NODE_OPTIONS: `--import ${new URL('../harness/loopback-only.mjs', import.meta.url).href}`,
  }
  return { env, leave: () => rm(home, { recursive: true, force: true }) }
}

/** A framework with a model that calls what it is told to. */
function program(file: string, ...options: readonly string[]) {
  return async (url: string): Promise<Host> => {
    const { env, leave } = await surroundings()
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const
    const child = fork(join(place, file), [url, ...options], { env, stdio: [...stdio] })
    let complaints = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaints += text
    })
    const ended = once(child, 'exit')
    const told = async () => {
      const [said] = await Promise.race([once(child, 'message'), ended])
      if (typeof said !== 'object') throw new Error(`${file} ended:\n${complaints}`)
      return said
    }
    const { tools } = await told()
    return {
      tools,
      async call(tool, args, payment) {
        const answer = told()
        child.send({ tool, args, payment })
        return (await answer).read
      },
      async close() {
        child.kill()
        await ended
        await leave()
      },
    }
  }
}

/** A host that knows only programs on this machine, behind the bridge to servers elsewhere. */
async function openBridge(url: string): Promise<Host> {
  const { env, leave } = await surroundings()
  const client = new Client({ name: 'story', version: '1.0.0' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [`${installed}/mcp-remote/dist/proxy.js`, url, '--silent'],
    env,
    stderr: 'ignore',
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  const { tools } = await client.listTools()
  return {
    tools: tools.map(({ name }) => name),
    async call(name, args, payment) {
      const _meta = payment && { 'x402/payment': payment }
      const { content } = await client.callTool({ name, arguments: { ...args }, _meta })
      return textsOf(content as readonly Part[])
    },
    async close() {
      await client.close()
      await leave()
    },
  }
}

interface Part {
  readonly text?: string
}

function textsOf(content: readonly Part[]): string {
  return content.map(({ text = '' }) => text).join('\n')
}

const errorOfTool = 5

/** The Inspector as scripts run it: a command for each call. */
async function openInspector(url: string): Promise<Host> {
  const { env, leave } = await surroundings()
  const ask = (...options: readonly string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const main = `${installed}/@modelcontextprotocol/inspector/clients/cli/build/index.js`
      const args = [main, url, '--transport', 'http', '--format', 'json', ...options]
      execFile(process.execPath, args, { env, maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr })
      })
    })
  // It says here which schemas other clients would stumble over.
  const listed = await ask('--method', 'tools/list', '--strict')
  if (listed.code !== 0 || listed.stderr !== '') throw new Error(listed.stderr)
  const { tools } = JSON.parse(listed.stdout).result
  return {
    tools: tools.map(({ name }: { readonly name: string }) => name),
    async call(tool, args, payment) {
      const paid =
        payment === undefined ? [] : ['--tool-metadata', `x402/payment=${JSON.stringify(payment)}`]
      const given = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args), ...paid]
      const { code, stdout, stderr } = await ask('--method', 'tools/call', ...given)
      if (code !== 0 && code !== errorOfTool) throw new Error(stderr)
      return textsOf(JSON.parse(stdout).result.content)
    },
    close: leave,
  }
}

import { Agent, MCPServerStreamableHttp, Runner } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { answer, textsIn } from './session.mjs'

const [, , url, strict] = process.argv
const convertSchemasToStrict = strict === 'strict'
let payment
const server = new MCPServerStreamableHttp({
  url,
  name: 'store',
  toolMetaResolver: () => payment && { 'x402/payment': payment },
})
await server.connect()
const runner = new Runner({ tracingDisabled: true })

/** What the model is asked, answer by answer. */
async function run(...answers) {
  const model = new ScriptedModel(answers.map((said) => [said]))
  const agent = new Agent({
    name: 'Shopper',
    model,
    mcpServers: [server],
    mcpConfig: { convertSchemasToStrict },
  })
  await runner.run(agent, 'Shop.')
  return model.calls.map(({ request }) => request)
}

const [{ tools }] = await run(assistantMessage('Nothing yet.'))
// A strict schema cannot have an argument that is an open object: the framework offers these tools as they are.
const openTools = ['quote', 'buy']
const open = tools.filter(
  ({ name, strict }) => strict !== (convertSchemasToStrict && !openTools.includes(name)),
)
if (open.length > 0) throw new Error(`Not as asked: ${open.map(({ name }) => name)}`)

/** A model that is held to a strict schema names every argument, with null for what it leaves out. */
function filled(name, args) {
  const { required } = tools.find((tool) => tool.name === name).parameters
  return { ...Object.fromEntries(required.map((argument) => [argument, null])), ...args }
}

answer({
  tools: tools.map(({ name }) => name),
  async call(name, args, paid) {
    payment = paid
    const given = convertSchemasToStrict ? filled(name, args) : args
    const [, { input }] = await run(
      functionCall(name, given, { callId: 'call' }),
      assistantMessage('Done.'),
    )
    return textsIn(input.find(({ type }) => type === 'function_call_result').output)
  },
})

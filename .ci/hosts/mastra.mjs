import { Agent } from '@mastra/core/agent'
import { MCPClient } from '@mastra/mcp'
import { MockLanguageModelV3 } from 'ai/test'
import { answer, calling } from './session.mjs'

const [, , url] = process.argv
const client = new MCPClient({ id: 'shopper', servers: { store: { url: new URL(url) } } })
const tools = await client.listTools()
const prefix = 'store_'

let payment
const buy = tools[`${prefix}buy`]
const { execute } = buy
buy.execute = (args, context) =>
  execute(args, payment ? { ...context, _meta: { 'x402/payment': payment } } : context)

answer({
  tools: Object.keys(tools).map((name) => name.slice(prefix.length)),
  async call(name, args, paid) {
    payment = paid
    const model = new MockLanguageModelV3({ doGenerate: calling(`${prefix}${name}`, args) })
    const agent = new Agent({ id: 'shopper', name: 'Shopper', instructions: 'Shop.', model, tools })
    await agent.generate('Shop.', { maxSteps: 2 })
    const [, { prompt }] = model.doGenerateCalls
    const [{ output }] = prompt.at(-1).content
    return typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
  },
})

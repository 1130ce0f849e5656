import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { createAgent, FakeToolCallingModel } from 'langchain'
import { answer, textsIn } from './session.mjs'

const [, , url] = process.argv
const client = new MultiServerMCPClient({ mcpServers: { store: { transport: 'http', url } } })
const tools = await client.getTools()

answer({
  tools: tools.map(({ name }) => name),
  async call(name, args) {
    const model = new FakeToolCallingModel({ toolCalls: [[{ name, args, id: 'call' }], []] })
    const { messages } = await createAgent({ model, tools }).invoke({ messages: 'Shop.' })
    return textsIn(messages.find(({ type }) => type === 'tool').content)
  },
})

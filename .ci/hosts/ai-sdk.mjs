import { createMCPClient } from '@ai-sdk/mcp'
import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { answer, calling, textsIn } from './session.mjs'

const [, , url] = process.argv
const client = await createMCPClient({ transport: { type: 'http', url } })
const tools = await client.tools()

answer({
  tools: Object.keys(tools),
  async call(name, args) {
    const model = new MockLanguageModelV4({ doGenerate: calling(name, args) })
    await generateText({ model, tools, stopWhen: isStepCount(2), prompt: 'Shop.' })
    const [, { prompt }] = model.doGenerateCalls
    const [{ output }] = prompt.at(-1).content
    return textsIn(output.value)
  },
})

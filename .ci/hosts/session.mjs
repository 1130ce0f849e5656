/**
 * Answers the story that started this program: which tools the host's model is told of, and what the model
 * reads of each call that it makes. A payment goes with the call where the host can send one.
 */
export function answer({ tools, call }) {
  process.on('message', async ({ tool, args, payment }) => {
    process.send({ read: await call(tool, args, payment).catch(String) })
  })
  process.send({ tools })
}

/** The texts that a model reads in a result, which frameworks nest in parts of their own. */
export function textsIn(value) {
  if (typeof value === 'string') return value
  const parts = Array.isArray(value) ? value : [value]
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('\n')
}

/** What a model of the AI SDK says that calls a tool once, and reads the result. */
export function calling(toolName, args) {
  const said = (part, reason) => ({
    content: [part],
    finishReason: { unified: reason },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
    warnings: [],
  })
  const input = JSON.stringify(args)
  return [
    said({ type: 'tool-call', toolCallId: 'call', toolName, input }, 'tool-calls'),
    said({ type: 'text', text: 'Done.' }, 'stop'),
  ]
}
